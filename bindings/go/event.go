// SPDX-License-Identifier: MIT

package perfmon

// #include <stdlib.h>
// #include <perfmon/perfmon.h>
import "C"

import (
	"runtime"
	"unsafe"
)

// Register is a register and its value.
type Register struct {
	Kind    int // PFM_REG_*
	Number  int
	Address uint64 // on x86 the MSR, or the number again
	Value   uint64
	Name    string
	Event   int // index of the first event of its set that needs it; -1: of no event
}

// Attr has the members of perf_event_attr that select an event.
type Attr struct {
	Type                                  int64 // -1: depends on the machine
	Config                                [5]uint64
	ExcludeUser, ExcludeKernel, ExcludeHV bool
	Precise                               int
	Expressible                           bool // false: the kernel cannot count the event
}

// Event is an encoded event.
type Event struct {
	PMU, Number int
	Levels      uint       // PFM_PLM*
	Registers   []Register // for the lowest counter that can count it
	Counters    uint64     // counter mask; fixed counter n is bit 32 + n
	Attr        Attr
}

// Set is a set of events placed on counters.
type Set struct {
	Counters []int // fixed counter n is 32 + n; -1: needs no counter
	Writes   []Register
	Reads    []Register
}

// Dialect is a notation of events.
type Dialect int

// Notations of events.
const (
	Libpfm Dialect = iota
	Libpmc
	Perf
	Vendor
)

func registers(first *C.pfm_reg_t, n C.uint) []Register {
	out := make([]Register, 0, n)
	for _, r := range unsafe.Slice(first, n) {
		out = append(out, Register{int(r.kind), int(r.num), uint64(r.addr), uint64(r.value),
			C.GoString(r.name), int(r.event)})
	}
	return out
}

// Encode encodes an event in any notation. levels (PFM_PLM*) are those of a text that names none;
// 0: the PMU's defaults.
func (c *Context) Encode(text string, levels uint) (*Event, error) {
	var e C.pfm_encoding_t
	e.size = C.sizeof_pfm_encoding_t
	cerr := newError()
	ctext := C.CString(text)
	defer C.free(unsafe.Pointer(ctext))
	defer runtime.KeepAlive(c)
	if rc := C.pfm_encode_event(c.handle(), ctext, C.uint(levels), &e, &cerr); rc != 0 {
		return nil, explain(c.handle(), text, rc, &cerr)
	}
	a := &e.attr
	out := &Event{
		PMU:       int(e.pmu),
		Number:    int(e.event),
		Levels:    uint(e.plm),
		Registers: registers(&e.regs[0], e.n_regs),
		Counters:  uint64(e.counters),
		Attr: Attr{
			Type: -1,
			Config: [5]uint64{uint64(a.config), uint64(a.config1), uint64(a.config2),
				uint64(a.config3), uint64(a.config4)},
			ExcludeUser:   a.exclude_user != 0,
			ExcludeKernel: a.exclude_kernel != 0,
			ExcludeHV:     a.exclude_hv != 0,
			Precise:       int(a.precise),
			Expressible:   a.expressible != 0,
		},
	}
	if a.type_known != 0 {
		out.Attr.Type = int64(a._type)
	}
	return out, nil
}

// Dispatch places events on counters that count them together.
func (c *Context) Dispatch(texts ...string) (*Set, error) {
	var set *C.pfm_set_t
	cerr := newError()
	first, n, free := cTexts(texts)
	defer free()
	defer runtime.KeepAlive(c)
	if rc := C.pfm_dispatch_set(&set, c.handle(), first, n, nil, &cerr); rc != 0 {
		return nil, explainSet(c.handle(), texts, rc, &cerr)
	}
	defer C.pfm_close_set(set)
	out := &Set{Writes: registers(set.pmcs, set.n_pmcs), Reads: registers(set.pmds, set.n_pmds)}
	for _, counter := range unsafe.Slice(set.counter, set.n_events) {
		out.Counters = append(out.Counters, int(counter))
	}
	return out, nil
}

// Decode lists the events that a value of a register can mean, the most likely first.
func (c *Context) Decode(pmu int, register string, value uint64) []string {
	var buf [256]C.char
	var out []string
	reg := C.CString(register)
	defer C.free(unsafe.Pointer(reg))
	defer runtime.KeepAlive(c)
	for C.pfm_decode_event(c.handle(), C.int(pmu), reg, C.uint64_t(value), C.uint(len(out)),
		&buf[0], C.size_t(len(buf))) == 0 {
		out = append(out, C.GoString(&buf[0]))
	}
	return out
}

// Print writes an event in another notation.
func (c *Context) Print(text string, dialect Dialect) (string, error) {
	var buf [512]C.char
	cerr := newError()
	ctext := C.CString(text)
	defer C.free(unsafe.Pointer(ctext))
	defer runtime.KeepAlive(c)
	if rc := C.pfm_print_event(c.handle(), ctext, C.pfm_dialect_t(dialect), &buf[0],
		C.size_t(len(buf)), &cerr); rc != 0 {
		return "", explain(c.handle(), text, rc, &cerr)
	}
	return C.GoString(&buf[0]), nil
}
