package tail_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/process/tail"

	"pgregory.net/rapid"
)

func TestTailKeepsHeadAndEnd(t *testing.T) {
	kept := tail.New(40)
	var all strings.Builder
	for i := range 20 {
		fmt.Fprintf(&all, "line %02d\n", i)
		fmt.Fprintf(kept, "line %02d\n", i)
	}
	got := kept.String()
	if want := "line 00\nli\n[120 bytes left out]\nne 16\nline 17\nline 18\nline 19\n"; got != want {
		t.Errorf("got %q, want about %q", got, want)
	}
	if kept.Total() != int64(all.Len()) || kept.Dropped() != int64(all.Len()-40) {
		t.Errorf("total %d dropped %d", kept.Total(), kept.Dropped())
	}
	if l := kept.Lines(2); !slices.Equal(l, []string{"line 18", "line 19"}) {
		t.Errorf("lines %q", l)
	}
}

func TestTailLines(t *testing.T) {
	tests := map[string][]string{
		"":              nil,
		"a":             {"a"},
		"a\nb":          {"a", "b"},
		"a\r\nb\r\n":    {"a", "b"},
		"\n":            nil,
		"a\n\nb\n":      {"a", "", "b"},
		"1\n2\n3\n4\n5": {"3", "4", "5"},
	}
	for in, want := range tests {
		kept := tail.New(0)
		kept.Write([]byte(in))
		if got := kept.Lines(3); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestTailSince(t *testing.T) {
	kept := tail.New(0)
	kept.Write([]byte("before\n"))
	m := kept.Mark()
	if got := kept.Since(m); got != "" {
		t.Errorf("nothing came, got %q", got)
	}
	kept.Write([]byte("during\n"))
	if got := kept.Since(m); got != "during\n" {
		t.Errorf("got %q", got)
	}
	if got := kept.Since(kept.Mark() + 5); got != "" {
		t.Errorf("got %q", got)
	}
}

// For any writes, any limit and any mark, Since returns the stream from the mark on,
// with at most one gap whose size is correct.
func TestTailIsTheStreamWithAGap(t *testing.T) {
	gap := regexp.MustCompile(`\n?\[(\d+) bytes left out\]\n`)
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.Int64Range(1, 200).Draw(rt, "limit")
		kept := tail.New(limit)
		var all strings.Builder
		mark, at := tail.Mark(0), 0
		for range rapid.IntRange(0, 20).Draw(rt, "writes") {
			p := rapid.StringMatching(`[a-z\n]{0,60}`).Draw(rt, "p")
			if rapid.Bool().Draw(rt, "mark here") {
				mark, at = kept.Mark(), all.Len()
			}
			kept.Write([]byte(p))
			all.WriteString(p)
		}
		want, got := all.String()[at:], kept.Since(mark)
		if int64(len(kept.Bytes())) > limit || kept.Total() != int64(all.Len()) {
			rt.Fatalf("keeps %d of %d, limit %d", len(kept.Bytes()), kept.Total(), limit)
		}
		loc := gap.FindStringSubmatchIndex(got)
		if loc == nil {
			if got != want {
				rt.Fatalf("got %q, want %q", got, want)
			}
			return
		}
		var lost int
		fmt.Sscan(got[loc[2]:loc[3]], &lost)
		head, end := got[:loc[0]], got[loc[1]:]
		until := len(want) - lost - len(end)
		if !strings.HasPrefix(want, head) || !strings.HasSuffix(want, end) || until < len(head) || until > len(head)+1 {
			rt.Fatalf("got %q of %q", got, want)
		}
	})
}

func TestTailChangedAndRace(t *testing.T) {
	kept := tail.New(100)
	ch := kept.Changed()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 200 {
				kept.Write([]byte("some text\n"))
				_ = kept.Lines(3)
				_ = kept.Since(kept.Mark() - 20)
			}
		})
	}
	<-ch
	all.Wait()
	if kept.Total() != 8000 {
		t.Errorf("total %d", kept.Total())
	}
}

func BenchmarkTailFlood(b *testing.B) {
	kept, p := tail.New(0), make([]byte, 32<<10)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		kept.Write(p)
	}
}

// EndsSince selects the same lines as Ends, and the times at which they were written.
func TestTailEndsSince(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		kept, start := tail.New(0), time.Now()
		fmt.Fprint(kept, "before\n")
		mark := kept.Mark()
		for i := range 30 {
			<-time.After(time.Second)
			fmt.Fprintf(kept, "\x1b[31mline\x1b[0m %d\r\nand more\n", i)
		}
		lines, at := kept.EndsSince(mark, 8)
		if want := tail.Ends(kept.Since(mark), 8); !slices.Equal(lines, want) || len(at) != len(want) {
			t.Fatalf("%q %v", lines, at)
		}
		var got []string
		for i, l := range lines {
			got = append(got, fmt.Sprint(l, " ", at[i].Sub(start)))
		}
		want := "line 0 1s, and more 1s, [52 lines left out] 2s, line 27 28s, and more 28s, line 28 29s, and more 29s, line 29 30s, and more 30s"
		if strings.Join(got, ", ") != want {
			t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
		}
		for range 20 {
			fmt.Fprint(kept, strings.Repeat("x", 5000), "\n")
		}
		if _, at := kept.EndsSince(mark, 8); at != nil {
			t.Errorf("times of output that was partly dropped: %v", at)
		}
	})
}
