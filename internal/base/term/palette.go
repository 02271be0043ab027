package term

import "strings"

// Style names a meaning, not a color.
type Style uint8

// The eight styles.
const (
	Plain  Style = iota
	Good         // passed, added as expected
	Bad          // failed
	Broken       // no response obtained
	Warn         // flaky, tolerated, skipped with a reason to act
	Faint        // secondary text
	Strong       // names and headings
	Accent       // positions, links, things to copy
)

// codes holds the SGR parameters of each style with and without colors.
var codes = [...]struct{ color, bold string }{
	Plain:  {"", ""},
	Good:   {"32", ""},
	Bad:    {"31", "1"},
	Broken: {"35", "1"},
	Warn:   {"33", ""},
	Faint:  {"2", "2"},
	Strong: {"1", "1"},
	Accent: {"36", ""},
}

// Palette paints text for one stream. The zero value paints nothing.
type Palette struct{ profile Profile }

// NewPalette returns the palette of a profile.
func NewPalette(p Profile) Palette { return Palette{p} }

// Paint wraps s in the sequences of a style. A text of several lines is
// painted line by line, so that a pager or a log viewer that resets at the
// end of a line keeps the color.
func (p Palette) Paint(st Style, s string) string {
	code := p.selectCode(st)
	if code == "" || s == "" {
		return s
	}
	if !strings.Contains(s, "\n") {
		return "\x1b[" + code + "m" + s + "\x1b[0m"
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = "\x1b[" + code + "m" + l + "\x1b[0m"
		}
	}
	return strings.Join(lines, "\n")
}

func (p Palette) selectCode(st Style) string {
	if int(st) >= len(codes) {
		return ""
	}
	switch p.profile {
	case Color:
		return codes[st].color
	case Bold:
		return codes[st].bold
	}
	return ""
}
