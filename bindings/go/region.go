// SPDX-License-Identifier: MIT

package perfmon

// #include <stdlib.h>
// #define PFM_REGION_NO_MACROS
// #include <perfmon/perfmon.h>
import "C"

import (
	"errors"
	"runtime"
	"unsafe"
)

// Region is a part of a program that is counted. Regions of one name are the same.
type Region struct{ raw *C.pfm_region_t }

// NewRegion returns the region with a name.
func NewRegion(name string) (Region, error) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	raw := C.pfm_find_region(text)
	if raw == nil {
		return Region{}, errors.New("out of memory")
	}
	return Region{raw}, nil
}

// Begin begins a visit in the calling goroutine, which stays on its thread until End.
func (r Region) Begin() {
	runtime.LockOSThread()
	C.pfm_begin_region(r.raw)
}

// End ends the innermost open visit.
func (r Region) End() {
	C.pfm_end_region(r.raw)
	runtime.UnlockOSThread()
}

// StartRegions starts counting regions: comma-separated events ("": times alone) and the file that
// receives the results when the process ends ("": none).
func StartRegions(events, output string) error {
	var o C.pfm_regions_options_t
	o.size = C.sizeof_pfm_regions_options_t
	if events != "" {
		o.events = C.CString(events)
		defer C.free(unsafe.Pointer(o.events))
	}
	if output != "" {
		o.output = C.CString(output)
		defer C.free(unsafe.Pointer(o.output))
	}
	cerr := newError()
	if rc := C.pfm_start_regions(&o, &cerr); rc != 0 {
		return explain(nil, "", rc, &cerr)
	}
	return nil
}

// StopRegions stops counting and keeps the results.
func StopRegions() { C.pfm_stop_regions() }

// RegionVisits returns how many visits of each region have ended, in all threads together.
func RegionVisits() map[string]uint64 {
	out := map[string]uint64{}
	results := C.pfm_read_regions()
	if results == nil {
		return out
	}
	defer C.pfm_close_region_results(results)
	for i := C.uint(0); ; i++ {
		var info C.pfm_region_info_t
		info.size = C.sizeof_pfm_region_info_t
		if C.pfm_describe_region(results, i, &info) != 0 {
			return out
		}
		if info.thread == 0 {
			out[C.GoString(info.region)] += uint64(info.visits)
		}
	}
}
