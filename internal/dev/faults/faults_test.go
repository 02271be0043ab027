//go:build linux

package faults_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mcptest/internal/dev/flaky"
)

// lanes is the number of rows that run in parallel: most of them wait. MCPTEST_LANES
// changes it.
func lanes(t *testing.T) int {
	if v := os.Getenv("MCPTEST_LANES"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			t.Fatalf("MCPTEST_LANES is %q, must be a number greater than zero", v)
		}
		return n
	}
	return 4
}

// TestFaults checks that every fault of the table has the status, the message, the duration
// and the memory use of its row. A row that failed or took too long next to others is
// repeated alone at the end, and only that result counts.
func TestFaults(t *testing.T) {
	free := make(chan struct{}, lanes(t))
	var mu sync.Mutex
	var doubts []doubt
	var peak int
	chosen := readPart(t, part{of: 10})
	t.Run("rows", func(t *testing.T) {
		for i, r := range table() {
			if !chosen.has(i) {
				continue
			}
			t.Run(r.id, func(t *testing.T) {
				t.Parallel()
				free <- struct{}{}
				defer func() { <-free }()
				a := &flaky.Attempt{TB: t}
				tr := try(a, &r)
				mu.Lock()
				defer mu.Unlock()
				if a.Failed() || chosen.asked && tr.took > r.lasts() {
					doubts = append(doubts, doubt{row: r, first: a, timed: chosen.asked})
				}
				peak = max(peak, tr.peak())
			})
		}
	})
	for _, d := range doubts {
		t.Run("again/"+d.row.id, d.settle)
	}
	t.Logf("%d rows, %d of them measured again, at most %d MiB", len(table()), len(doubts), peak)
}

// doubt is a row that failed while other rows ran.
type doubt struct {
	row   row
	first *flaky.Attempt
	timed bool // the limits of the table count, not only a limit that ends what hangs
}

// settle repeats the row twice, alone. It must pass both times, and once within the limit,
// which is longer on a busy machine.
func (d doubt) settle(t *testing.T) {
	var took []string
	inTime := false
	for range 2 {
		tr := try(t, &d.row)
		limit := tr.allowed()
		if !d.timed {
			limit = max(limit, time.Minute)
		}
		took = append(took, fmt.Sprintf("%s of %s", tr.took.Round(time.Millisecond), limit.Round(time.Millisecond)))
		if inTime = inTime || tr.took <= limit; inTime && !d.first.Failed() {
			break
		}
	}
	switch {
	case !inTime:
		t.Errorf("it took longer than it may: %s", strings.Join(took, ", "))
	case t.Failed():
		t.Logf("with other rows: %s", d.first)
	case d.first.Failed():
		flaky.Note(t, "fault "+d.row.id, d.first)
	}
}

// try runs the program on a row. MCPTEST_FAULTS_SHOW names a folder for the output of each
// row.
func try(t testing.TB, r *row) *trial {
	tr := newTrial(t, r)
	tr.run()
	text := fmt.Sprintf("%s\n%s: %s, %s, %d MiB\n--- stdout\n%s--- stderr\n%s", r.id, r.what, tr.state, tr.took.Round(time.Millisecond), tr.peak(),
		short(tr.out.String()), short(tr.err.String()))
	if t.Failed() {
		t.Log(text)
	}
	if dir := os.Getenv("MCPTEST_FAULTS_SHOW"); dir != "" {
		name := filepath.Join(dir, strings.ReplaceAll(r.id, "/", "-"))
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	}
	return tr
}

func short(s string) string {
	if len(s) > 6000 {
		return s[:3000] + "\n…\n" + s[len(s)-3000:]
	}
	return s
}
