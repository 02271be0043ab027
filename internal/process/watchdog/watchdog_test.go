//go:build unix

package watchdog

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/iotest"
)

// TestMain prints what this process read as a watchdog.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == Arg {
		_, _ = io.Copy(os.Stdout, Input(strings.NewReader("unused")))
		return
	}
	os.Exit(m.Run())
}

func TestListen(t *testing.T) {
	for _, tt := range []struct {
		in, text string
		bye      bool
	}{
		{"", "", false},
		{"bye\n", "", true},
		{"mark x\nadd 1 2\nbye\n", "", true},
		{"mark x\nadd 1 2\n", "mark x\nadd 1 2\n", false},
		{"add 1 2\nbye", "add 1 2\nbye", false}, // the runner died while it wrote the line
		{"file \"goodbye\"\n", "file \"goodbye\"\n", false},
	} {
		for name, r := range map[string]io.Reader{
			"in one piece": strings.NewReader(tt.in),
			"bytes":        iotest.OneByteReader(strings.NewReader(tt.in)),
			"failing":      io.MultiReader(strings.NewReader(tt.in), iotest.ErrReader(errors.New("broken"))),
		} {
			text, bye := listen(r)
			if string(text) != tt.text || bye != tt.bye {
				t.Errorf("%q, %s: %q %v", tt.in, name, text, bye)
			}
		}
	}
}

// TestWatchdog starts this program as a watchdog.
func TestWatchdog(t *testing.T) {
	for in, want := range map[string]string{
		"mark x\nbye\n":      "", // ended before TestMain
		"mark x\nadd 1 2\n":  "mark x\nadd 1 2\n",
		"":                   "",
		"add 1 2\ndel 1 2\n": "add 1 2\ndel 1 2\n",
	} {
		cmd := exec.Command(os.Args[0], Arg)
		cmd.Stdin = strings.NewReader(in)
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != want {
			t.Errorf("sent %q: %q, %v; want %q", in, out, err, want)
		}
	}
}

func TestInputOfOthers(t *testing.T) {
	in := strings.NewReader("x")
	if Input(in) != io.Reader(in) {
		t.Error("got another input")
	}
}
