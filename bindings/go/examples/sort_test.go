// SPDX-License-Identifier: MIT

// Package examples measures two ways to sort: go test -bench . perfmon/examples
package examples

import (
	"math/rand"
	"sort"
	"testing"

	"perfmon"
)

// Events of the kernel can be counted everywhere; add instructions or branch-misses where the
// machine has a PMU.
var events = []string{"page-faults:u", "task-clock", "context-switches"}

func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = rand.Int()
	}
	return out
}

func insertionSort(values []int) {
	for i := 1; i < len(values); i++ {
		for k := i; k > 0 && values[k-1] > values[k]; k-- {
			values[k-1], values[k] = values[k], values[k-1]
		}
	}
}

func measure(b *testing.B, n int, sorted func([]int)) {
	input := numbers(n)
	values := make([]int, n)
	perfmon.Measure(b, b.N, func() {
		for i := 0; i < b.N; i++ {
			copy(values, input)
			sorted(values)
		}
	}, events...)
	if !sort.IntsAreSorted(values) {
		b.Fatal("not sorted")
	}
}

func BenchmarkLibrary(b *testing.B) {
	for name, n := range map[string]int{"small": 10, "large": 1000} {
		b.Run(name, func(b *testing.B) { measure(b, n, sort.Ints) })
	}
}

func BenchmarkInsertion(b *testing.B) {
	for name, n := range map[string]int{"small": 10, "large": 1000} {
		b.Run(name, func(b *testing.B) { measure(b, n, insertionSort) })
	}
}
