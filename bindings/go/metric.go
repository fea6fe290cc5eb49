// SPDX-License-Identifier: MIT

package perfmon

// #include <stdlib.h>
// #include <perfmon/perfmon.h>
import "C"

import (
	"runtime"
	"unsafe"
)

// Plan is the fewest groups that count a list of events and metrics.
type Plan struct {
	Groups      []string // each as a session takes it
	Rounds      int      // times the counters are reloaded
	Bound       int      // no plan has fewer groups
	Certificate string   // the proof of the bound
}

// Plan plans events, metrics and metric groups.
func (c *Context) Plan(texts ...string) (*Plan, error) {
	var plan *C.pfm_plan_t
	cerr := newError()
	first, n, free := cTexts(texts)
	defer free()
	defer runtime.KeepAlive(c)
	if rc := C.pfm_create_plan(&plan, c.handle(), first, n, nil, &cerr); rc != 0 {
		return nil, explainSet(c.handle(), texts, rc, &cerr)
	}
	defer C.pfm_close_plan(plan)
	var info C.pfm_plan_info_t
	info.size = C.sizeof_pfm_plan_info_t
	if rc := C.pfm_describe_plan(plan, &info); rc != 0 {
		return nil, plainError(rc)
	}
	out := &Plan{Rounds: int(info.n_rounds), Bound: int(info.bound),
		Certificate: C.GoString(info.certificate)}
	for i := C.uint(0); i < info.n_groups; i++ {
		var none [1]C.char
		buf := make([]C.char, int(C.pfm_print_plan_group(plan, i, &none[0], 1))+1)
		C.pfm_print_plan_group(plan, i, &buf[0], C.size_t(len(buf)))
		out.Groups = append(out.Groups, C.GoString(&buf[0]))
	}
	return out, nil
}

// Metric is a formula over counts.
type Metric struct {
	pmu    C.int
	event  C.uint
	Unit   string
	Inputs []string // events and constants whose values it needs
}

// MetricValue is the value of a metric. State is "defined" if there is one.
type MetricValue struct {
	State   string
	Value   float64
	Missing int // index of an input without a value, or -1
}

// Metric finds a metric.
func (c *Context) Metric(text string) (*Metric, error) {
	m := &Metric{pmu: -1}
	cerr := newError()
	ctext := C.CString(text)
	defer C.free(unsafe.Pointer(ctext))
	defer runtime.KeepAlive(c)
	if rc := C.pfm_find_event_by_text(c.handle(), ctext, &m.pmu, &m.event, &cerr); rc != 0 {
		return nil, explain(c.handle(), text, rc, &cerr)
	}
	var info C.pfm_metric_info_t
	info.size = C.sizeof_pfm_metric_info_t
	if rc := C.pfm_describe_metric(c.handle(), m.pmu, m.event, &info); rc != 0 {
		return nil, plainError(rc)
	}
	m.Unit = C.GoString(info.unit)
	for i := C.uint(0); i < info.n_inputs; i++ {
		var input C.pfm_metric_input_t
		input.size = C.sizeof_pfm_metric_input_t
		if rc := C.pfm_describe_metric_input(c.handle(), m.pmu, m.event, i, &input); rc != 0 {
			return nil, plainError(rc)
		}
		m.Inputs = append(m.Inputs, C.GoString(&input.text[0]))
	}
	return m, nil
}

// Compute computes a metric from the values of its first inputs; the others have none.
func (c *Context) Compute(m *Metric, values ...float64) (*MetricValue, error) {
	n := len(m.Inputs)
	memory := C.calloc(C.size_t(n+1), C.sizeof_pfm_metric_operand_t)
	defer C.free(memory)
	operands := unsafe.Slice((*C.pfm_metric_operand_t)(memory), n)
	for i := range operands {
		if i < len(values) {
			operands[i].value = C.double(values[i])
			operands[i].known = 1
		}
	}
	var data C.pfm_metric_data_t
	data.size = C.sizeof_pfm_metric_data_t
	data.n_inputs = C.uint(n)
	data.operands = (*C.pfm_metric_operand_t)(memory)
	var out C.pfm_metric_value_t
	out.size = C.sizeof_pfm_metric_value_t
	defer runtime.KeepAlive(c)
	if rc := C.pfm_compute_metric(c.handle(), m.pmu, m.event, &data, &out); rc != 0 {
		return nil, plainError(rc)
	}
	return &MetricValue{C.GoString(C.pfm_metric_state_name(out.state)), float64(out.value),
		int(out.missing)}, nil
}
