// SPDX-License-Identifier: MIT

package perfmon

import (
	"runtime"
	"strings"
)

// Benchmark is the part of testing.B that Measure needs.
type Benchmark interface {
	ReportMetric(n float64, unit string)
	Logf(format string, arguments ...any)
	Fatal(arguments ...any)
	ResetTimer()
	StopTimer()
}

// Measure counts events in the calling goroutine while work runs and reports each count divided by
// n, with its quality in the unit unless it is exact. Events without a value are logged with their
// cause.
func Measure(b Benchmark, n int, work func(), events ...string) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s, err := OpenSession(nil, SessionOptions{}, events...)
	if err != nil {
		b.Fatal(err)
		return
	}
	defer s.Close()
	b.ResetTimer()
	if err := s.Start(); err != nil {
		b.Fatal(err)
		return
	}
	work()
	err = s.Stop()
	b.StopTimer()
	counts, readErr := s.Read()
	if err != nil || readErr != nil {
		b.Fatal(err, readErr)
		return
	}
	for _, c := range counts {
		unit := strings.ReplaceAll(c.Name, " ", "_") + "/op"
		if !c.Counted {
			b.Logf("%s", c)
			continue
		}
		if c.Quality != Exact {
			unit += "(" + c.Quality.String() + ")"
			b.Logf("%s: %s %s", c.Name, c.Why, c.Remedy)
		}
		b.ReportMetric(float64(c.Value)/float64(n), unit)
	}
}
