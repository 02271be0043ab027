package term

import (
	"fmt"
	"io"
	"os"
	"strings"

	xterm "golang.org/x/term"
)

// Profile is the color support of a stream.
type Profile uint8

// The profiles. Only the sixteen basic colors are ever used, because they
// follow the reader's own theme; so richer terminals count as Color.
const (
	None  Profile = iota // not a terminal, or colors refused: bytes only
	Bold                 // a terminal without colors (NO_COLOR): bold and faint only
	Color                // the basic colors
)

// Detect finds the profile of a stream. Mode is what the user asked for:
// "auto" (also ""), "always" or "never"; env holds NAME=value entries as
// os.Environ gives them. In auto mode a stream that is no terminal gets None,
// unless CLICOLOR_FORCE is set; NO_COLOR takes the colors from a terminal
// (https://no-color.org, https://bixense.com/clicolors/).
func Detect(w io.Writer, env []string, mode string) (Profile, error) {
	switch mode {
	case "never":
		return None, nil
	case "always":
		return Color, nil
	case "", "auto":
	default:
		return None, fmt.Errorf("unknown color mode %q: expected auto, always or never", mode)
	}
	tty := IsTerminal(w)
	if noColor(env) {
		if tty {
			return Bold, nil
		}
		return None, nil
	}
	forced := lookup(env, "CLICOLOR_FORCE")
	force := forced != "" && forced != "0"
	switch {
	case force:
		return Color, nil
	case !tty:
		return None, nil
	}
	name := lookup(env, "TERM")
	switch {
	case name == "dumb":
		return None, nil
	case name == "" && !enableVirtualTerminal(w):
		return None, nil
	}
	return Color, nil
}

// noColor reports whether NO_COLOR is set to anything: the convention counts
// every value that is not empty.
func noColor(env []string) bool { return lookup(env, "NO_COLOR") != "" }

func lookup(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			value = v // the last one wins, as in os/exec
		}
	}
	return value
}

// IsTerminal reports whether w is an open terminal.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && f != nil && xterm.IsTerminal(int(f.Fd()))
}

// CountColumns returns the width of the terminal w in cells, or fallback when w is
// no terminal or does not say.
func CountColumns(w any, fallback int) int {
	f, ok := w.(*os.File)
	if !ok || f == nil {
		return fallback
	}
	if n, _, err := xterm.GetSize(int(f.Fd())); err == nil && n > 0 {
		return n
	}
	return fallback
}
