package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"mcptest/internal/cmdutil"
)

// smallHeap is the size in bytes below which garbage is not collected.
const smallHeap = 10 << 20

// usualGC and mostGC bound the growth of the heap between two collections, in
// percent of what lives: Go's default, and what takes the runtime's minimum of
// 4 MiB to smallHeap.
const usualGC, mostGC = 100, 250

// collectLate puts collections off until the heap has smallHeap or has doubled,
// whichever is later. Reading a suite of a thousand tests leaves little garbage
// and much that stays; running it leaves a few MiB that live, so that with Go's
// default a collection would come every 4 MiB, that is every few hundred tests.
// More than smallHeap saves no time that can be measured, and costs memory.
// Large suites take no more memory than otherwise. GOGC in the environment is
// left alone.
func collectLate(env []string) {
	if cmdutil.LookupEnv(env, "GOGC") != "" {
		return
	}
	now, limit := mostGC, int64(usualMemory)
	debug.SetGCPercent(now)
	limited := cmdutil.LookupEnv(env, "GOMEMLIMIT") == ""
	if limited {
		debug.SetMemoryLimit(limit)
	}
	// An object that nobody holds is found by the next collection.
	var next func(*[16]byte)
	next = func(*[16]byte) {
		live := liveHeap()
		if p := growth(live); p != now {
			now = p
			debug.SetGCPercent(p)
		}
		if m := memory(live); limited && m != limit {
			limit = m
			debug.SetMemoryLimit(m)
		}
		runtime.SetFinalizer(new([16]byte), next)
	}
	runtime.SetFinalizer(new([16]byte), next)
}

// usualMemory is how much the program takes before garbage is collected more
// often than the growth of the heap asks for, in bytes: a few large answers of a
// server would else take it to twice of what they need.
const usualMemory = 160 << 20

// memory is that bound for a heap of which live bytes are in use. A run that
// needs more gets it, in steps of 64 MiB.
func memory(live uint64) int64 {
	const step = 64 << 20
	need := int64(live) + int64(live)/2
	if need <= usualMemory {
		return usualMemory
	}
	return (need + step - 1) / step * step
}

// growth is the percentage for a heap of which live bytes are in use, in steps
// of 50: setting it stops the program for a moment.
func growth(live uint64) int {
	if live == 0 {
		return mostGC
	}
	percent := (smallHeap*100/live - 100) / 50 * 50
	if live >= smallHeap {
		percent = 0
	}
	return int(min(max(percent, usualGC), mostGC))
}

// liveHeap is what the last collection left, in bytes.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}
