package bench_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
)

// rounds returns the number of rounds of each measurement: MCPTEST_BENCH_ROUNDS, 7 by
// default.
func rounds(tb testing.TB) int {
	text := os.Getenv("MCPTEST_BENCH_ROUNDS")
	if text == "" {
		return 7
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		tb.Fatalf("MCPTEST_BENCH_ROUNDS=%s: want a number from 1", text)
	}
	return n
}

// TestCost prints the table and fails if a measurement exceeds its gate three times
// in a row. It takes a minute or more, needs a quiet machine, and runs only with
// MCPTEST_BENCH=1.
func TestCost(t *testing.T) {
	if os.Getenv("MCPTEST_BENCH") != "1" {
		t.Skip("MCPTEST_BENCH=1 is not set")
	}
	tl := buildTools(t)
	n := rounds(t)
	fmt.Printf("%d rounds; medians, the ratios with their quartiles\n", n)
	fmt.Printf("%-58s %9s %9s %-4s %-18s  goal\n", "", "mcptest", "floor", "unit", " ratio")
	for _, group := range [][]measurement{load(t, tl), perTest(t, tl), start(t, tl), memory(t, tl)} {
		for _, m := range group {
			m.rounds = n
			for _, l := range m.gate(os.Stdout) {
				t.Errorf("three times beyond its gate, %+v: %s", l.part.gate, l)
			}
		}
	}
}

// run measures a complete run of mcptest; calls one of the floor.
func (t *tools) run(tb testing.TB, path string) sample {
	return t.cost(tb, t.mcptest, "run", "--no-progress", path)
}

// earlier returns the measurement of the build in MCPTEST_BENCH_BASE, nil without one.
func (t *tools) earlier(measure func(program *tools) []float64) func() []float64 {
	file := os.Getenv("MCPTEST_BENCH_BASE")
	if file == "" {
		return nil
	}
	program := *t
	program.mcptest = file
	return func() []float64 { return measure(&program) }
}

func (t *tools) calls(tb testing.TB, n, window int, end, key string, server []string) sample {
	return t.cost(tb, append([]string{t.floor, "call", strconv.Itoa(n), strconv.Itoa(window), end, key}, server...)...)
}

func load(tb testing.TB, t *tools) []measurement {
	path := t.write(tb, "w1000.yml", written(1000, "", t.echo))
	return []measurement{{
		name:  "load 1,000 written tests (floor: the YAML library)",
		parts: []part{{unit: "ms", aim: limits{most: 60}, gate: limits{most: 120, ratio: 2.5}}},
		ours:  func() []float64 { return []float64{timed(func() { loadSuite(tb, path) })} },
		floor: func() []float64 { return []float64{timed(func() { loadYAML(tb, path) })} },
	}}
}

// slope returns the cost of one additional test: the difference between many and few,
// divided by their number.
func slope(few, many int, run func(n int) sample) []float64 {
	a, b, n := run(few), run(many), float64(many-few)
	return []float64{(b.Wall - a.Wall) / n, (b.CPU - a.CPU) / n, (b.Switches - a.Switches) / n}
}

// slopeParts returns the lines of a slope: limits of the elapsed time, and a gate for
// CPU time, which other programs on the machine affect less.
func slopeParts(time, gate, cpuGate limits) []part {
	return []part{
		{name: ": time", unit: "µs", aim: time, gate: gate},
		{name: ": CPU time, the server's included", unit: "µs", gate: cpuGate},
		{name: ": context switches, likewise"},
	}
}

// server is a server that the programs are measured with.
type server struct {
	name      string
	argv      []string
	prefix    string // the echo tool's prefix of the text
	few, many int
	shares    map[int]float64 // by the number of calls in flight: part.share

	aim, gate, cpuGate limits
	exitAim, cpuAim    limits // of a start
}

// perTest measures the cost of one additional test.
func perTest(tb testing.TB, t *tools) []measurement {
	var out []measurement
	for _, s := range []server{
		{
			name: "echo", argv: []string{t.echo}, few: 1000, many: 10_000, aim: limits{ratio: 2},
			shares: map[int]float64{1: .50, 8: .41},
			// The floor takes 15 or 23 µs of the processor, which varies from run to run, so
			// the ratio says little without the difference (82 to 110 µs).
			gate: limits{ratio: 8, over: 200}, cpuGate: limits{ratio: 6.5, over: 130},
		},
		{
			name: "go-sdk", argv: []string{t.sdk}, few: 200, many: 2000, aim: limits{ratio: 1.25},
			shares: map[int]float64{1: .46, 8: .49},
			gate:   limits{ratio: 2.5, over: 300}, cpuGate: limits{ratio: 1.8, over: 150},
		},
	} {
		for _, window := range []int{1, 8} {
			paths := map[int]string{s.few: t.fromCases(tb, s.few, window, s.argv...), s.many: t.fromCases(tb, s.many, window, s.argv...)}
			parts := slopeParts(s.aim, s.gate, s.cpuGate)
			if window > 1 {
				parts = slopeParts(limits{}, limits{}, limits{})
			}
			parts[0].share = s.shares[window]
			ours := func(program *tools) []float64 {
				return slope(s.few, s.many, func(n int) sample { return program.run(tb, paths[n]) })
			}
			out = append(out, measurement{
				name: fmt.Sprintf("a test from cases:, %s, %d in flight", s.name, window), parts: parts,
				ours: func() []float64 { return ours(t) },
				base: t.earlier(ours),
				floor: func() []float64 {
					return slope(s.few, s.many, func(n int) sample { return t.calls(tb, n, window, "eof", "text", s.argv) })
				},
			})
		}
	}
	paths := map[int]string{1: t.write(tb, "w1.yml", written(1, "", t.echo)), 1000: t.write(tb, "w1000.yml", written(1000, "", t.echo))}
	return append(out, measurement{
		name: "a written test with its load, echo", parts: slopeParts(limits{}, limits{}, limits{}),
		ours: func() []float64 { return slope(1, 1000, func(n int) sample { return t.run(tb, paths[n]) }) },
		base: t.earlier(func(program *tools) []float64 {
			return slope(1, 1000, func(n int) sample { return program.run(tb, paths[n]) })
		}),
		floor: func() []float64 {
			return slope(1, 1000, func(n int) sample { return t.calls(tb, n, 1, "eof", "text", []string{t.echo}) })
		},
	})
}

// start measures a program that starts a server, runs one test and exits.
func start(tb testing.TB, t *tools) []measurement {
	list := []server{
		{name: "echo", argv: []string{t.echo}, aim: limits{over: 6}, exitAim: limits{over: 9}, cpuAim: limits{most: 15}, gate: limits{over: 30, ratio: 8}, cpuGate: limits{over: 40, ratio: 7}},
		{name: "go-sdk", argv: []string{t.sdk}, aim: limits{over: 6}, exitAim: limits{over: 9}, gate: limits{over: 30, ratio: 6}, cpuGate: limits{over: 40, ratio: 5}},
	}
	if t.everything != "" {
		list = append(list, server{name: "server-everything", argv: []string{t.node, t.everything, "stdio"}, prefix: "Echo: ", aim: limits{ratio: 1.1}, exitAim: limits{ratio: 1.1}, gate: limits{ratio: 2.2, over: 400}})
	} else if os.Getenv("MCPTEST_REQUIRE_SERVERS") != "" {
		tb.Error("server-everything is not installed: make servers")
	}
	times := func(s sample) []float64 { return []float64{s.Verdict / 1000, s.Wall / 1000, s.CPU / 1000} }
	var out []measurement
	for _, s := range list {
		// In a separate folder, because a run reads the durations of all suites in
		// its folder.
		path := t.write(tb, "start-"+s.name+"/one.yml", written(1, s.prefix, s.argv...))
		m := measurement{
			name: "start and one test, " + s.name,
			parts: []part{
				{name: ": to the verdict", unit: "ms", aim: s.aim, gate: s.gate},
				{name: ": to the exit", unit: "ms", aim: s.exitAim, gate: s.gate},
				{name: ": CPU time", unit: "ms", aim: s.cpuAim, gate: s.cpuGate},
			},
			ours:  func() []float64 { return times(t.run(tb, path)) },
			base:  t.earlier(func(program *tools) []float64 { return times(program.run(tb, path)) }),
			floor: func() []float64 { return times(t.calls(tb, 1, 1, "eof", argument(s.prefix), s.argv)) },
		}
		out = append(out, m)
		if s.prefix != "" {
			m.name += ", floor ends it by SIGTERM immediately"
			m.parts = []part{{name: ": to the verdict", unit: "ms"}, {name: ": to the exit", unit: "ms"}}
			m.floor = func() []float64 { return times(t.calls(tb, 1, 1, "term", argument(s.prefix), s.argv)) }
			out = append(out, m)
		}
	}
	return out
}

// memory measures the program's peak resident set size.
func memory(tb testing.TB, t *tools) []measurement {
	peak := func(name, path string, most float64) measurement {
		return measurement{
			name: "peak memory, " + name, parts: []part{{unit: "MiB", aim: limits{most: most}, gate: limits{most: 1.5 * most}}},
			ours: func() []float64 { return []float64{t.run(tb, path).RSS / 1024} },
		}
	}
	each := func(path string, n float64) []float64 {
		s := t.run(tb, path)
		return []float64{s.RSS / 1024, s.Wall / n}
	}
	thousand, big := t.fromCases(tb, 1000, 1, t.echo), t.fromCases(tb, 100_000, 1, t.echo)
	return []measurement{
		peak("20 written tests", t.write(tb, "memory/w20.yml", written(20, "", t.echo)), 0),
		peak("1,000 written tests", t.write(tb, "memory/w1000.yml", written(1000, "", t.echo)), 23.8), // 25 MB
		peak("10,000 tests from cases:", t.fromCases(tb, 10_000, 1, t.echo), 50),
		{
			name: "100,000 tests from cases: (floor: 1,000 of them)",
			parts: []part{
				{name: ": peak memory", unit: "MiB", aim: limits{most: 60}, gate: limits{most: 120}},
				{name: ": time of a test", unit: "µs", aim: limits{ratio: 1.2}, gate: limits{ratio: 2.4, over: 100}},
			},
			ours:  func() []float64 { return each(big, 100_000) },
			floor: func() []float64 { return each(thousand, 1000) },
		},
	}
}
