package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	checked := map[string]tally{
		"good": {ok: 2}, "bad": {ok: 1, failed: 1, problems: " why"}, "none": {},
		"known gap": {failed: 1}, "closed gap": {ok: 1},
	}
	passed, open, complaints := compare([]string{"good", "bad", "none", "absent", "known gap", "closed gap"}, checked, func(name string) string {
		if strings.HasSuffix(name, "gap") {
			return "reason"
		}
		return ""
	})
	want := []string{
		"bad: 1 checks passed, 1 failed why", "none: 0 checks passed, 0 failed", "absent: 0 checks passed, 0 failed",
		"closed gap passes: remove it from the list of gaps",
	}
	if passed != 2 || open != 1 || !cmp.Equal(complaints, want) {
		t.Errorf("%d passed, %d open, %s", passed, open, cmp.Diff(want, complaints))
	}
}

func TestReadChecks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path, text := range map[string]string{
		"auth/basic-2026-11-21T04-58-07-365Z":  `[{"status":"SUCCESS"},{"status":"INFO"},{"status":"FAILURE","name":"N","errorMessage":"E"}]`,
		"server-ping-2026-11-21T04-58-07-365Z": `[{"status":"SUCCESS"}]`,
	} {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "checks.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readChecks(dir, "server")
	if err != nil {
		t.Fatal(err)
	}
	if a := got["auth/basic"]; a.ok != 1 || a.failed != 1 || !strings.Contains(a.problems, "N: E") {
		t.Errorf("auth/basic: %+v", a)
	}
	if got["ping"].ok != 1 || total(got) != 3 {
		t.Errorf("%+v", got)
	}
}
