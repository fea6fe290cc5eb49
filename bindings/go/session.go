// SPDX-License-Identifier: MIT

package perfmon

// #include <stdlib.h>
// #include <perfmon/perfmon.h>
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Quality says how far a count can be trusted. Later versions may add values.
type Quality int

// Qualities of counts.
const (
	Exact        Quality = iota // counted all the time it was enabled
	Scaled                      // shared a counter; extrapolated
	Partial                     // some CPUs or tasks were not counted
	NotCounted                  // no value this time
	NotSupported                // cannot be counted here
	Pretended                   // a value that pfm pretend made up
	Simulated                   // an emulator counted it
)

func (q Quality) String() string { return C.GoString(C.pfm_quality_name(C.pfm_quality_t(q))) }

// Count is a count. Value is valid if Counted is true.
type Count struct {
	Name             string
	Value            uint64
	Counted          bool
	Quality          Quality
	Why, Remedy      string // why it is not exact, and what to do; empty if unknown
	Enabled, Running uint64 // nanoseconds
	Scale            float64
	Unit             string // Value times Scale is in Unit
}

func (c Count) String() string {
	if !c.Counted {
		return fmt.Sprintf("- %s (%s: %s)", c.Name, c.Quality, c.Why)
	}
	return fmt.Sprintf("%d %s (%s)", c.Value, c.Name, c.Quality)
}

// SessionOptions says how to open a session. The zero value counts the calling thread: call
// runtime.LockOSThread first.
type SessionOptions struct {
	PID        int    // a process or thread; 0: the calling thread
	Inherit    bool   // count child processes and threads too
	SystemWide bool   // count every process on the CPUs
	Strict     bool   // fail unless every event can be opened
	CPUs       string // a list such as 0,2-3
}

// Session counts a list of events. One goroutine at a time uses it.
type Session struct{ raw *C.pfm_session_t }

func (o SessionOptions) flags() C.uint {
	var flags C.uint
	if o.Inherit {
		flags |= C.PFM_SESSION_INHERIT
	}
	if o.SystemWide {
		flags |= C.PFM_SESSION_SYSTEM_WIDE
	}
	if o.Strict {
		flags |= C.PFM_SESSION_STRICT
	}
	return flags
}

// OpenSession opens counters for events, groups in braces and metrics. A nil context is the default
// one. Close releases the session.
func OpenSession(c *Context, options SessionOptions, texts ...string) (*Session, error) {
	var o C.pfm_session_options_t
	o.size = C.sizeof_pfm_session_options_t
	o.flags = options.flags()
	o.pid = C.int(options.PID)
	if options.CPUs != "" {
		o.cpus = C.CString(options.CPUs)
		defer C.free(unsafe.Pointer(o.cpus))
	}
	first, n, free := cTexts(texts)
	defer free()
	defer runtime.KeepAlive(c)
	s := &Session{}
	cerr := newError()
	if rc := C.pfm_open_session(&s.raw, c.handle(), &o, first, n, &cerr); rc != 0 {
		return nil, explainSet(c.handle(), texts, rc, &cerr)
	}
	return s, nil
}

// Start starts counting.
func (s *Session) Start() error { return plainError(C.pfm_start_session(s.raw)) }

// Stop stops counting.
func (s *Session) Stop() error { return plainError(C.pfm_stop_session(s.raw)) }

// Reset sets all counts to 0.
func (s *Session) Reset() error { return plainError(C.pfm_reset_session(s.raw)) }

// Close stops counting and releases the session.
func (s *Session) Close() {
	C.pfm_close_session(s.raw)
	s.raw = nil
}

// Read reads all counts.
func (s *Session) Read() ([]Count, error) {
	n := C.pfm_session_size(s.raw)
	raw := make([]C.pfm_count_t, n+1)
	for i := range raw {
		raw[i].size = C.sizeof_pfm_count_t
	}
	if rc := C.pfm_read_session(s.raw, &raw[0], n); rc != 0 {
		return nil, plainError(rc)
	}
	out := make([]Count, 0, n)
	for i := C.uint(0); i < n; i++ {
		var info C.pfm_count_info_t
		info.size = C.sizeof_pfm_count_info_t
		if rc := C.pfm_describe_count(s.raw, i, &info); rc != 0 {
			return nil, plainError(rc)
		}
		c := &raw[i]
		out = append(out, Count{
			Name:    C.GoString(info.name),
			Value:   uint64(c.value),
			Counted: C.pfm_counter_quality(c.quality, c.cause) <= C.PFM_QUALITY_PARTIAL,
			Quality: Quality(c.quality),
			Why:     C.GoString(info.why),
			Remedy:  C.GoString(info.remedy),
			Enabled: uint64(c.enabled),
			Running: uint64(c.running),
			Scale:   float64(c.scale),
			Unit:    C.GoString(info.unit),
		})
	}
	return out, nil
}
