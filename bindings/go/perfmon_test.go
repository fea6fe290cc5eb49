// SPDX-License-Identifier: MIT

package perfmon

import (
	"errors"
	"runtime"
	"sync"
	"testing"
)

func tables(t *testing.T) *Context {
	t.Helper()
	c, err := NewContext(ContextOptions{NoHost: true, NoImages: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestManyGoroutinesEncodeWithOneContext(t *testing.T) {
	c := tables(t)
	var group sync.WaitGroup
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for k := 0; k < 100; k++ {
				e, err := c.Encode("spr::MEM_LOAD_RETIRED.L3_MISS:u", 0)
				if err != nil || e.Registers[0].Value != 0x5120d1 {
					t.Error(e, err)
					return
				}
			}
		}()
	}
	group.Wait()
}

func TestAnErrorHasItsPlaceAndSimilarNames(t *testing.T) {
	_, err := tables(t).Encode("spr::INST_RETIRED.ANX", 0)
	var e *Error
	if !errors.As(err, &e) || e.Kind != "unknown_qualifier" || e.Start != 18 ||
		len(e.Suggestions) == 0 || e.Suggestions[0] != "INST_RETIRED.ANY" {
		t.Fatalf("%#v", err)
	}
}

func TestASetThatDoesNotFitNamesTheClash(t *testing.T) {
	_, err := tables(t).Dispatch("coreduo::Mul", "coreduo::Div")
	var e *Error
	if !errors.As(err, &e) || len(e.Clash) != 2 {
		t.Fatalf("%#v", err)
	}
}

func TestASessionGivesCountsWithQuality(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s, err := OpenSession(nil, SessionOptions{}, "task-clock:u", "page-faults:u")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	pages := make([]byte, 16<<20)
	for i := 0; i < len(pages); i += 4096 {
		pages[i] = 1
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	counts, err := s.Read()
	if err != nil || len(counts) != 2 || counts[0].Name != "task-clock:u" {
		t.Fatal(counts, err)
	}
	for _, c := range counts {
		if !c.Counted && c.Why == "" {
			t.Error("no value and no cause:", c)
		}
	}
}

func TestRegionsCountVisits(t *testing.T) {
	if err := StartRegions("page-faults:u", ""); err != nil {
		t.Fatal(err)
	}
	defer StopRegions()
	region, err := NewRegion("work")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := 0; i < 4; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			region.Begin()
			region.End()
		}()
	}
	group.Wait()
	if n := RegionVisits()["work"]; n != 4 {
		t.Fatal("visits:", n)
	}
}
