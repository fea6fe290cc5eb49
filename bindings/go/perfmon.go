// SPDX-License-Identifier: MIT

// Package perfmon encodes, places, counts and marks hardware performance events by libperfmon.
//
// A Context turns names of events into registers for any processor, on any machine. A Session
// counts events of this machine; each Count has a Quality. A Region counts a part of a program.
package perfmon

// #cgo LDFLAGS: -lperfmon
// #include <stdlib.h>
// #include <perfmon/perfmon.h>
import "C"

import (
	"runtime"
	"strings"
	"unsafe"
)

// Error says why a call failed.
type Error struct {
	Code        int    // PFMLIB_ERR_*
	Kind        string // the stable word of the problem, such as unknown_event
	Start, End  int    // bytes of the text with the problem
	Clash       []int  // indices of a smallest set of events that do not fit together
	Sentence    string
	Suggestions []string // similar names, best first
}

func (e *Error) Error() string {
	if len(e.Suggestions) > 0 {
		return e.Sentence + " (similar: " + strings.Join(e.Suggestions, ", ") + ")"
	}
	return e.Sentence
}

// Context is a set of PMUs. Goroutines may share it. The zero value is the default context.
type Context struct{ raw *C.pfm_ctx_t }

// ContextOptions says how to open a context.
type ContextOptions struct {
	NoHost   bool   // ignore this machine: every event must name its PMU
	NoImages bool   // do not search for image files
	PMU      string // PMU of names without a prefix
	CPUID    string // identify the processor so, such as GenuineIntel-6-8F
}

// NewContext opens a context. It is released when it is no longer used.
func NewContext(options ContextOptions) (*Context, error) {
	var c C.pfm_ctx_options_t
	c.size = C.sizeof_pfm_ctx_options_t
	if options.NoHost {
		c.flags |= C.PFM_CTX_NO_HOST
	}
	if options.NoImages {
		c.flags |= C.PFM_CTX_NO_IMAGES
	}
	if options.PMU != "" {
		c.pmu = C.CString(options.PMU)
		defer C.free(unsafe.Pointer(c.pmu))
	}
	if options.CPUID != "" {
		c.cpuid = C.CString(options.CPUID)
		defer C.free(unsafe.Pointer(c.cpuid))
	}
	ctx := &Context{}
	cerr := newError()
	if rc := C.pfm_open_context(&ctx.raw, &c, &cerr); rc != 0 {
		return nil, explain(nil, "", rc, &cerr)
	}
	runtime.SetFinalizer(ctx, func(c *Context) { C.pfm_close_context(c.raw) })
	return ctx, nil
}

// FindPMU returns the number of the PMU with a name or alias, or -1.
func (c *Context) FindPMU(name string) int {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	defer runtime.KeepAlive(c)
	return int(C.pfm_find_pmu(c.handle(), text))
}

func (c *Context) handle() *C.pfm_ctx_t {
	if c == nil {
		return nil
	}
	return c.raw
}

func newError() C.pfm_error_t {
	var e C.pfm_error_t
	e.size = C.sizeof_pfm_error_t
	return e
}

// plainError is the error of a call without details.
func plainError(rc C.int) error {
	if rc >= 0 {
		return nil
	}
	return &Error{Code: int(rc), Sentence: C.GoString(C.pfm_result_text(rc))}
}

// explain makes an Error of what the library says about text ("": no text).
func explain(ctx *C.pfm_ctx_t, text string, rc C.int, e *C.pfm_error_t) error {
	var buf [1024]C.char
	var quoted *C.char
	if text != "" {
		quoted = C.CString(text)
		defer C.free(unsafe.Pointer(quoted))
	}
	C.pfm_explain_error(ctx, quoted, e, &buf[0], C.size_t(len(buf)))
	out := &Error{
		Code:     int(rc),
		Kind:     C.GoString(C.pfm_error_kind_name(e.kind)),
		Start:    int(e.start),
		End:      int(e.end),
		Sentence: C.GoString(&buf[0]),
	}
	for _, i := range e.clash[:e.n_clash] {
		out.Clash = append(out.Clash, int(i))
	}
	if quoted != nil {
		var names [3][96]C.char
		n := C.pfm_suggest_names(ctx, quoted, e, &names[0], C.size_t(len(names)))
		for i := range names[:n] {
			out.Suggestions = append(out.Suggestions, C.GoString(&names[i][0]))
		}
	}
	return out
}

// explainSet makes an Error of what the library says about one of several texts, or about all.
func explainSet(ctx *C.pfm_ctx_t, texts []string, rc C.int, e *C.pfm_error_t) error {
	if i := int(e.event); i >= 0 && i < len(texts) {
		return explain(ctx, texts[i], rc, e)
	}
	return explain(ctx, "", rc, e)
}

// cTexts copies texts to C memory; free releases them.
func cTexts(texts []string) (first **C.char, n C.uint, free func()) {
	list := make([]*C.char, len(texts)+1)
	for i, text := range texts {
		list[i] = C.CString(text)
	}
	return &list[0], C.uint(len(texts)), func() {
		for _, text := range list {
			C.free(unsafe.Pointer(text))
		}
	}
}
