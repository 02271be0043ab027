package report_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mcptest/internal/report"
)

func TestParseSpecs(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string // name=path, joined
		err  string
	}{
		{[]string{"pretty", "json=out/run.json"}, "pretty= json=out/run.json", ""},
		{[]string{"json=-"}, "json=", ""},
		{[]string{"json=a=b.json"}, "json=a=b.json", ""},
		{[]string{"jsn"}, "", `unknown reporter "jsn" (did you mean "json"?): expected one of pretty, minimal, json`},
		{[]string{"json="}, "", "no path after the equals sign"},
		{[]string{"pretty", "json"}, "", `reporters "pretty" and "json" both write to standard output: give one a file, as in json=report.json`},
		{[]string{"agent=x", "json=./x"}, "", `reporters "agent" and "json" both write to ./x`},
		{[]string{"agent=-", "json=/dev/stdout"}, "", `reporters "agent" and "json" both write to standard output`},
	} {
		specs, err := report.ParseSpecs(tc.args)
		var got []string
		for _, s := range specs {
			got = append(got, s.Format.Name+"="+s.Path)
		}
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%v: got %v, want %q", tc.args, err, tc.err)
			}
			continue
		}
		if err != nil || strings.Join(got, " ") != tc.want {
			t.Errorf("%v: got %v, %v", tc.args, got, err)
		}
	}
}

func put(t *testing.T, path, text string) error {
	t.Helper()
	s, err := report.OpenSink(path, nil)
	if err != nil {
		return err
	}
	defer s.Abort()
	if _, err := io.WriteString(s, text); err != nil {
		return err
	}
	return s.Commit()
}

func TestSinkIsAtomic(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report.xml")
	if err := put(t, path, "one"); err != nil {
		t.Fatal(err)
	}
	s, err := report.OpenSink(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(s, "half of it")
	s.Flush()
	if got, _ := os.ReadFile(path); string(got) != "one" {
		t.Errorf("half a report shows: %q", got)
	}
	s.Abort()
	s.Abort()
	if err := put(t, path, "two"); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "two" {
		t.Errorf("got %q", got)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSinkKeepsPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	path := filepath.Join(t.TempDir(), "r")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := put(t, path, "x"); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("got %v", info.Mode())
	}
}

func TestSinkRefusals(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	os.WriteFile(target, []byte("precious"), 0o666)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{
		link:                              "it is a symbolic link",
		dir:                               "it is a directory",
		filepath.Join(dir, "no", "such"):  "no such file or directory",
		filepath.Join(target, "below"):    "not a directory",
		filepath.Join(dir, "nul\x00byte"): "invalid argument",
	} {
		err := put(t, path, "x")
		if err == nil || !strings.Contains(err.Error(), "write "+path+": ") || runtime.GOOS == "linux" && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", path, err, want)
		}
	}
	if got, _ := os.ReadFile(target); string(got) != "precious" {
		t.Errorf("got %q", got)
	}
}

// TestSinkOnFullDisk: the device that is always full represents a disk.
func TestSinkOnFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	err := put(t, "/dev/full", strings.Repeat("x", 200_000))
	if err == nil || !strings.Contains(err.Error(), "write /dev/full: no space left on device") {
		t.Errorf("got %v", err)
	}
	if err := put(t, "/dev/null", "x"); err != nil {
		t.Errorf("a device: %v", err)
	}
}

func TestSinkOnStdout(t *testing.T) {
	var b bytes.Buffer
	for _, path := range []string{"", "-"} {
		s, err := report.OpenSink(path, &b)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(s, "text\n")
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if b.String() != "text\ntext\n" {
		t.Errorf("got %q", b.String())
	}
	s, _ := report.OpenSink("", closedPipe{})
	io.WriteString(s, "text\n")
	if err := s.Commit(); !errors.Is(err, io.ErrClosedPipe) || !strings.Contains(err.Error(), "standard output") {
		t.Errorf("got %v", err)
	}
}

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
