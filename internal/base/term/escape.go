package term

import (
	"strings"
	"unicode"

	"mcptest/internal/base/display"
)

// Escape makes text from elsewhere (a server, a hook, a suite) safe to print
// on one line of a terminal or a CI log: it is display.Escape, and CI commands
// are broken up. Their openers are recognized anywhere in a line (`##[`,
// `##vso[`, `##teamcity[`), or at its start (`::`, GitHub Actions).
func Escape(s string) string {
	if isPlain(s) {
		return s
	}
	s = ciMarkers.Replace(display.Escape(s))
	rest := strings.TrimLeftFunc(s, unicode.IsSpace) // a runner trims more than ASCII
	if strings.HasPrefix(rest, "::") {
		return s[:len(s)-len(rest)] + `\x3a` + rest[1:]
	}
	return s
}

// EscapeLines is Escape for text of several lines: line feeds are kept (CR LF
// becomes LF) and tabs become blanks. Callers that print it put a gutter
// before each line.
func EscapeLines(s string) string {
	if isPlain(s) {
		return s
	}
	lines := strings.Split(whiteSpace.Replace(s), "\n")
	for i, line := range lines {
		lines[i] = Escape(line)
	}
	return strings.Join(lines, "\n")
}

var whiteSpace = strings.NewReplacer("\r\n", "\n", "\t", "    ")

// ciMarkers breaks up what CI systems take for a command anywhere in a line:
// Azure Pipelines and the old GitHub form, TeamCity.
var ciMarkers = strings.NewReplacer("##[", `\x23#[`, "##vso[", `\x23#vso[`, "##teamcity[", `\x23#teamcity[`)

// isPlain reports whether s is printable ASCII without anything to break up.
func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '#' || c == ':' {
			return false
		}
	}
	return true
}
