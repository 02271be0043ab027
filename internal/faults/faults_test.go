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
)

// lanes is how many rows run side by side: most of them wait. MCPTEST_LANES
// changes it.
func lanes(t *testing.T) int {
	if v := os.Getenv("MCPTEST_LANES"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			t.Fatalf("MCPTEST_LANES is %q, want a number", v)
		}
		return n
	}
	return 4
}

// Every fault of the table comes to the verdict, the message, the time and the
// memory that its row promises. A row that took too long is measured again by
// itself at the end, because it may have waited for its neighbours.
func TestFaults(t *testing.T) {
	free := make(chan struct{}, lanes(t))
	var mu sync.Mutex
	var late []row
	var peak int
	all := os.Getenv("MCPTEST_FAULTS") != ""
	if !all {
		t.Log("only every tenth fault is tried; make faults tries all")
	}
	t.Run("rows", func(t *testing.T) {
		for i, r := range table() {
			if !all && i%10 != 0 {
				continue
			}
			t.Run(r.id, func(t *testing.T) {
				t.Parallel()
				free <- struct{}{}
				defer func() { <-free }()
				tr := try(t, &r)
				mu.Lock()
				defer mu.Unlock()
				if tr.took > r.lasts() {
					late = append(late, r)
				}
				peak = max(peak, tr.peak())
			})
		}
	})
	for _, r := range late {
		t.Run("again/"+r.id, func(t *testing.T) {
			if tr := try(t, &r); tr.took > r.lasts() {
				t.Errorf("it took %s, at most %s are allowed", tr.took.Round(time.Millisecond), r.lasts())
			}
		})
	}
	t.Logf("%d rows, %d of them measured twice, at most %d MiB", len(table()), len(late), peak)
}

// try runs the program on a row. MCPTEST_FAULTS_SHOW names a folder that gets
// what each row printed.
func try(t *testing.T, r *row) *trial {
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
