package bench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPeers measures the same suites with mcptest and with other programs, and prints
// the table of docs/spec/peers.md; with MCPTEST_BENCH_PEERS=write it updates the page.
// Before that, every program must prove that it makes the calls and fails if one
// response is wrong: a runner without checks would be the fastest.
func TestPeers(t *testing.T) {
	how := os.Getenv("MCPTEST_BENCH_PEERS")
	if how == "" {
		t.Skip("MCPTEST_BENCH_PEERS is not set")
	}
	tl := buildTools(t)
	all := append([]peer{ourselves(tl, 1), ourselves(tl, 8)}, peersIn(t, tl)...)
	if tl.everything == "" {
		t.Fatal("server-everything is not installed: make servers")
	}
	for i := range all {
		proveIt(t, tl, &all[i])
	}
	n := rounds(t)
	var lines, goals []string
	for _, k := range []struct {
		server string
		job
	}{
		{"go-sdk", job{n: 1, argv: []string{tl.sdk}}},
		{"go-sdk", job{n: 20, argv: []string{tl.sdk}}},
		{"go-sdk", job{n: 1000, argv: []string{tl.sdk}}},
		{"server-everything", job{n: 1, prefix: "Echo: ", argv: []string{tl.node, tl.everything, "stdio"}}},
		{"server-everything", job{n: 20, prefix: "Echo: ", argv: []string{tl.node, tl.everything, "stdio"}}},
	} {
		verdict, exit := compare(t, all, k.job, n)
		lines = append(lines, row(k.n, k.server, "last verdict", verdict), row(k.n, k.server, "exit", exit))
		fmt.Print(strings.Join(lines[len(lines)-2:], ""))
		goals = append(goals, goalsOf(all, k.n, k.server, "last verdict", verdict), goalsOf(all, k.n, k.server, "exit", exit))
	}
	table := tableHead(all) + strings.Join(lines, "")
	fmt.Print("\n" + table + "\n" + strings.Join(goals, ""))
	if how == "write" {
		if err := writeTable("../../../docs/spec/peers.md", table); err != nil {
			t.Fatal(err)
		}
	}
}

// proveIt fails the test unless a peer makes exactly the requested calls and notices
// a wrong response. It records whether the peer exits before the server does.
func proveIt(t *testing.T, tl *tools, p *peer) {
	t.Helper()
	dir := t.TempDir()
	counter := filepath.Join(dir, "calls")
	j := job{n: 20, argv: []string{tl.sdk, counter}}
	p.suite(t, dir, j)
	if _, out, passed := p.run(t, dir, j); !passed {
		t.Fatalf("%s does not pass a suite it should pass:\n%s", p.name, out)
	}
	if data, _ := os.ReadFile(counter); len(data) != j.n {
		t.Fatalf("%s made %d calls in place of %d", p.name, len(data), j.n)
	}
	j = job{n: 20, argv: []string{tl.sdk}, wrong: true}
	p.suite(t, dir, j)
	if _, out, passed := p.run(t, dir, j); passed {
		t.Fatalf("%s passes a suite with a wrong expectation:\n%s", p.name, out)
	}
	dir = t.TempDir()
	mark := filepath.Join(dir, "server")
	j = job{n: 1, prefix: "Echo: ", argv: []string{tl.node, tl.everything, "stdio", mark}}
	p.suite(t, dir, j)
	passing(t, p, dir, j)
	if p.leaves = runs(t, mark); p.leaves {
		fmt.Println(p.name, "exits while the server still runs")
	}
}

// runs reports whether a process with this argument exists.
func runs(t *testing.T, arg string) bool {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		t.Fatalf("no list of processes in /proc: %v", err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		data, _ := os.ReadFile(file) // the process may have ended
		return slices.Contains(strings.Split(string(data), "\x00"), arg)
	})
}

// goalsOf compares one line of the table with the goals: our time divided by that of
// the fastest peer; for the time to the exit, of the fastest peer that leaves no
// server running.
func goalsOf(all []peer, n int, server, until string, f figures) string {
	fastest := func(ratios []float64) (at int) {
		for i := 2; i < len(all); i++ {
			if (until != "exit" || !all[i].leaves) && (at == 0 || ratios[i] > ratios[at]) {
				at = i
			}
		}
		return at
	}
	line := func(ours peer, ratios []float64, most float64) string {
		at, verdict := fastest(ratios), "met"
		if at == 0 {
			return "" // every peer leaves the server running
		}
		if ratios[at] > most {
			verdict = "MISSED"
		}
		return fmt.Sprintf("goal: %d tests, %s, until the %s: %s takes %.2f of the time of %s (at most %.2f): %s\n",
			n, server, until, ours.name, ratios[at], all[at].name, most, verdict)
	}
	if n < 1000 {
		return line(all[0], f.one, goalOf(n, server, until))
	}
	return line(all[0], f.one, .85) + line(all[1], f.eight, .6)
}

// goalOf returns the largest part of the fastest peer's time that few tests may take. With
// the go-sdk server, which is quick, the start of mcptest decides: it reads every message
// and starts a second process that ends what a killed run leaves.
func goalOf(n int, server, until string) float64 {
	switch {
	case server != "go-sdk":
		return 1
	case n == 1 && until == "exit":
		return 1.35
	case n == 1:
		return 1.25
	case until == "exit":
		return 1.3
	default:
		return 1.2
	}
}

// figures are the median of each program in milliseconds, and the medians of the
// ratios of the rounds: with one test at a time, and with eight.
type figures struct{ medians, one, eight []float64 }

// compare runs one suite with every program, alternately.
func compare(t *testing.T, all []peer, j job, rounds int) (verdict, exit figures) {
	t.Helper()
	verdicts, exits := make([][]float64, len(all)), make([][]float64, len(all))
	dirs := make([]string, len(all))
	for i := range all {
		dirs[i] = t.TempDir()
		all[i].suite(t, dirs[i], j)
	}
	for r := range rounds {
		for i := range all {
			i = (i + r) % len(all)
			took := passing(t, &all[i], dirs[i], j)
			verdicts[i] = append(verdicts[i], took.verdict.Seconds()*1000)
			exits[i] = append(exits[i], took.exit.Seconds()*1000)
		}
	}
	return figuresOf(verdicts), figuresOf(exits)
}

// figuresOf computes the figures from the times of each program in each round.
func figuresOf(times [][]float64) figures {
	var f figures
	for i := range times {
		f.medians = append(f.medians, spreadOf(times[i]).mid)
		var one, eight []float64
		for r := range times[i] {
			one, eight = append(one, times[0][r]/times[i][r]), append(eight, times[1][r]/times[i][r])
		}
		f.one, f.eight = append(f.one, spreadOf(one).mid), append(f.eight, spreadOf(eight).mid)
	}
	return f
}

// tries limits how often a run may fail: some peers give up if a server takes five
// seconds to start, which happens on a busy machine. Only passed runs count.
const tries = 3

// passing returns the times of a run that passes.
func passing(t *testing.T, p *peer, dir string, j job) took {
	t.Helper()
	for try := 1; ; try++ {
		took, out, passed := p.run(t, dir, j)
		if passed {
			return took
		}
		fmt.Printf("%s failed in a measured run of %d tests on %s (try %d of %d):\n%s\n", p.name, j.n, j.argv, try, tries, out)
		if try == tries {
			t.Fatalf("%s failed %d times", p.name, tries)
		}
	}
}

// tableHead returns the head of the table in Markdown.
func tableHead(all []peer) string {
	names := []string{"tests", "server", "until"}
	for i := range all {
		names = append(names, all[i].name)
	}
	names = append(names, "mcptest / fastest peer", "mcptest --parallel 8 / fastest peer")
	return "| " + strings.Join(names, " | ") + " |\n|" + strings.Repeat("--:|", len(names)) + "\n"
}

// row returns a line of the table: the first two programs are mcptest.
func row(n int, server, until string, f figures) string {
	cells := []string{strconv.Itoa(n), server, until}
	for _, m := range f.medians {
		cells = append(cells, duration(m))
	}
	cells = append(cells, fmt.Sprintf("%.2f", slices.Max(f.one[2:])), fmt.Sprintf("%.2f", slices.Max(f.eight[2:])))
	return "| " + strings.Join(cells, " | ") + " |\n"
}

func duration(ms float64) string {
	if ms >= 1000 {
		return fmt.Sprintf("%.2f s", ms/1000)
	}
	return fmt.Sprintf("%.0f ms", ms)
}

// The comments around the table in docs/spec/peers.md.
const (
	tableBegins = "<!-- written by make bench-peers WRITE=1 -->\n"
	tableEnds   = "<!-- end of what make bench-peers wrote -->"
	// unmeasured is the text until the table was measured on a quiet machine.
	unmeasured = "The table will be here: it has not been measured on a quiet machine yet.\n"
)

// writeTable replaces the table between the comments of a file.
func writeTable(file, table string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(data), tableBegins)
	_, after, ended := strings.Cut(rest, tableEnds)
	if !ok || !ended {
		return fmt.Errorf("%s has no marks for the table", file)
	}
	return os.WriteFile(file, []byte(before+tableBegins+table+tableEnds+after), 0o644) //nolint:gosec // a page of the repository
}

// TestPeersTable compares the form of the table in docs/spec/peers.md with that of the
// generated one, so that manual edits and changes of the command are noticed.
func TestPeersTable(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../../docs/spec/peers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(data), tableBegins)
	table, _, ended := strings.Cut(rest, tableEnds)
	if !ok || !ended {
		t.Fatal("docs/spec/peers.md has no marks for the table of make bench-peers")
	}
	if table == unmeasured {
		table = tableLike()
	}
	if err := checkTable(table); err != nil {
		t.Error(err)
	}
	for name, bad := range map[string]string{
		"a column less": strings.Replace(table, " | ", " ", 1), "no head": table[strings.Index(table, "\n")+1:],
		"a line less": table[:strings.LastIndex(strings.TrimRight(table, "\n"), "\n")+1], "a figure in words": strings.Replace(table, " ms |", " quick |", 1),
	} {
		if checkTable(bad) == nil {
			t.Errorf("a table with %s is taken:\n%s", name, bad)
		}
	}
}

// checkTable compares the form of a table: its head (without versions), its lines,
// and the kind of figure in each cell.
func checkTable(table string) error {
	if got, want := form(table), form(tableLike()); got != want {
		return fmt.Errorf("the table is not as the command writes it: got\n%s\nwant\n%s", got, want)
	}
	return nil
}

// tableLike returns a table in the generated form.
func tableLike() string {
	names := []peer{ourselves(&tools{}, 1), ourselves(&tools{}, 8), {name: "mcp-autotest 0"}, {name: "mcp-assert 0"}, {name: "mcp-aegis 0"}, {name: "promptfoo 0"}}
	like := tableHead(names)
	for _, k := range []struct {
		n      int
		server string
	}{{1, "go-sdk"}, {20, "go-sdk"}, {1000, "go-sdk"}, {1, "server-everything"}, {20, "server-everything"}} {
		none := make([]float64, len(names))
		zero := figures{none, none, none}
		like += row(k.n, k.server, "last verdict", zero) + row(k.n, k.server, "exit", zero)
	}
	return like
}

func TestGoals(t *testing.T) {
	t.Parallel()
	all := []peer{{name: "one"}, {name: "eight"}, {name: "slow"}, {name: "quick", leaves: true}}
	f := figures{one: []float64{1, 1, .8, 1.1}, eight: []float64{1, 1, .5, .7}}
	for _, tc := range []struct {
		n     int
		until string
		want  string
	}{
		{1, "last verdict", "one takes 1.10 of the time of quick (at most 1.25): met"},
		{20, "last verdict", "one takes 1.10 of the time of quick (at most 1.20): met"},
		{1, "exit", "one takes 0.80 of the time of slow (at most 1.35): met"},
		{20, "exit", "one takes 0.80 of the time of slow (at most 1.30): met"},
		{1000, "last verdict", "eight takes 0.70 of the time of quick (at most 0.60): MISSED"},
		{1000, "exit", "one takes 0.80 of the time of slow (at most 0.85): met"},
	} {
		if got := goalsOf(all, tc.n, "go-sdk", tc.until, f); !strings.Contains(got, tc.want) || strings.Count(got, "goal: ") != 1+tc.n/1000 {
			t.Errorf("%d tests, until the %s: got %q, want %q", tc.n, tc.until, got, tc.want)
		}
	}
	if got := goalsOf(all, 1, "server-everything", "last verdict", f); !strings.Contains(got, "(at most 1.00): MISSED") {
		t.Errorf("a slower server: got %q", got)
	}
	if got := goalsOf(all[:2], 1, "s", "exit", f); got != "" {
		t.Errorf("without a peer: %q", got)
	}
}

// form replaces every figure except whole numbers by N, and seconds by milliseconds.
func form(table string) string {
	lines := strings.Split(strings.TrimRight(table, "\n"), "\n")
	for i, l := range lines {
		cells := strings.Split(l, " | ")
		for c, cell := range cells {
			words := strings.Fields(cell)
			for w := range words {
				if _, err := strconv.ParseFloat(strings.Trim(words[w], "|"), 64); err == nil && (c > 2 || i == 0) {
					words[w] = "N"
				} else if i == 0 && w > 0 && strings.Count(words[w], ".") == 2 {
					words[w] = "N" // a version
				} else if i > 1 && words[w] == "s" {
					words[w] = "ms"
				}
			}
			cells[c] = strings.Join(words, " ")
		}
		lines[i] = strings.Join(cells, " | ")
	}
	return strings.Join(lines, "\n")
}
