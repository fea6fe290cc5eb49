// SPDX-License-Identifier: MIT

// Command vectors is the driver of the golden vectors (tests/driver/README.md): it answers
// requests, one JSON object a line.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"unicode/utf16"

	"perfmon"
)

type request struct {
	Op, Text, PMU, Reg, Value string
	Texts                     []string
	Values                    []float64
	PLM                       uint
	Dialect                   int
}

func quote(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			out.WriteByte('\\')
			out.WriteRune(c)
		case c >= ' ' && c <= '~':
			out.WriteRune(c)
		default:
			for _, unit := range utf16.Encode([]rune{c}) {
				fmt.Fprintf(&out, "\\u%04x", unit)
			}
		}
	}
	out.WriteByte('"')
	return out.String()
}

func list[T any](items []T, show func(T) string) string {
	out := make([]string, 0, len(items))
	for _, item := range items {
		out = append(out, show(item))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func hex(n uint64) string { return fmt.Sprintf(`"%#x"`, n) }

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func registers(regs []perfmon.Register) string {
	return list(regs, func(r perfmon.Register) string {
		return fmt.Sprintf("[%d, %d, %s, %s, %s, %d]", r.Kind, r.Number, hex(r.Address),
			hex(r.Value), quote(r.Name), r.Event)
	})
}

func refusal(err error) string {
	var e *perfmon.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	return fmt.Sprintf(
		`{"rc": %d, "kind": %s, "start": %d, "end": %d, "sentence": %s, "clash": %s}`,
		e.Code, quote(e.Kind), e.Start, e.End, quote(e.Sentence), list(e.Clash, strconv.Itoa))
}

func encode(c *perfmon.Context, r *request) (string, error) {
	e, err := c.Encode(r.Text, r.PLM)
	if err != nil {
		return "", err
	}
	a := e.Attr
	return fmt.Sprintf(`{"rc": 0, "pmu": %d, "event": %d, "plm": %d, "regs": %s, "counters": %s, `+
		`"type": %d, "config": %s, "exclude": [%s, %s, %s], "precise": %d}`, e.PMU, e.Number,
		e.Levels, registers(e.Registers), hex(e.Counters), a.Type, list(a.Config[:3], hex),
		bit(a.ExcludeUser), bit(a.ExcludeKernel), bit(a.ExcludeHV), a.Precise), nil
}

func dispatch(c *perfmon.Context, r *request) (string, error) {
	set, err := c.Dispatch(r.Texts...)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(`{"rc": 0, "counters": %s, "pmcs": %s, "pmds": %s}`,
		list(set.Counters, strconv.Itoa), registers(set.Writes), registers(set.Reads)), nil
}

func decode(c *perfmon.Context, r *request) (string, error) {
	value, err := strconv.ParseUint(r.Value, 0, 64)
	if err != nil {
		return "", err
	}
	events := c.Decode(c.FindPMU(r.PMU), r.Reg, value)
	if len(events) > 8 {
		events = events[:8]
	}
	return fmt.Sprintf(`{"events": %s}`, list(events, quote)), nil
}

func printEvent(c *perfmon.Context, r *request) (string, error) {
	text, err := c.Print(r.Text, perfmon.Dialect(r.Dialect))
	return fmt.Sprintf(`{"rc": 0, "text": %s}`, quote(text)), err
}

func plan(c *perfmon.Context, r *request) (string, error) {
	p, err := c.Plan(r.Texts...)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(`{"rc": 0, "rounds": %d, "bound": %d, "groups": %s}`, p.Rounds, p.Bound,
		list(p.Groups, quote)), nil
}

func metric(c *perfmon.Context, r *request) (string, error) {
	m, err := c.Metric(r.Text)
	var v *perfmon.MetricValue
	if err == nil {
		v, err = c.Compute(m, r.Values...)
	}
	var e *perfmon.Error
	if errors.As(err, &e) {
		return fmt.Sprintf(`{"rc": %d}`, e.Code), nil
	}
	return fmt.Sprintf(`{"rc": 0, "state": %s, "value": %s, "missing": %d}`, quote(v.State),
		hex(math.Float64bits(v.Value)), v.Missing), nil
}

var operations = map[string]func(*perfmon.Context, *request) (string, error){
	"encode": encode, "dispatch": dispatch, "decode": decode, "print": printEvent, "plan": plan,
	"metric": metric,
}

func run() error {
	ctx, err := perfmon.NewContext(perfmon.ContextOptions{NoHost: true, NoImages: true})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var r request
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			return err
		}
		operation, found := operations[r.Op]
		if !found {
			return fmt.Errorf("unknown request %q", r.Op)
		}
		answer, err := operation(ctx, &r)
		if err != nil {
			answer = refusal(err)
		}
		fmt.Fprintln(out, answer)
	}
	return in.Err()
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
