package draft

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
)

// machine are patterns of texts that describe the machine of a server: runtimes with
// their versions, platforms, and members with such names.
var machine = []string{
	`(?i:\b(node(\.?js)?|npm|npx|yarn|pnpm|bun|deno|c?python|go|ruby|php|java|v8|linux|darwin|kernel)["']?[\s:=/@]*["']?v?\d+\.\d+)`,
	`\bv[1-9]\d\.\d+\.\d+\b`, // of Node
	`(?i:\b(linux|darwin|win32|macos|windows)[ /_-]+(` + processors + `)\b)`,
	`(?i:^(linux|darwin|win32|windows_nt|freebsd|` + processors + `)$)`,
	`(?i:\b(platform|os|arch|architecture|hostname|cpus?|cores|memory|pid|ppid|uid|gid|cwd)["']?\s*[:=]\s*\S+)`,
}

const processors = `x64|x86_64|amd64|arm64|aarch64|ia32`

// local reports whether a text contains one of the suite's texts of this machine.
func (s *Suite) local(text string) bool { return s.WithoutLocal(text) != text }

// WithoutLocal replaces texts of this machine. Short ones are replaced as words: the
// user "ada" is not in "adamant".
func (s *Suite) WithoutLocal(text string) string {
	for _, place := range s.Local {
		short := len(place) < 12 && !strings.ContainsAny(place, `/\`)
		for from := 0; place != ""; {
			at := strings.Index(text[from:], place)
			if at < 0 {
				break
			}
			at += from
			from = at + len(place)
			before, _ := utf8.DecodeLastRuneInString(text[:at])
			after, _ := utf8.DecodeRuneInString(text[from:])
			if !short || !isWordRune(before) && !isWordRune(after) {
				text = text[:at] + localMark + text[from:]
				from = at + len(localMark)
			}
		}
	}
	return text
}

// localMark replaces a text of this machine in comments.
const localMark = "[local]"

func isWordRune(r rune) bool {
	return r == '-' || r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// environment matches a text that lists environment variables. Their number and order
// differ between machines, and their values may be private.
var environment = lazy.Regexp(`\bPATH["']?\s*[:=]`)

// isEnvironment reports whether a value lists environment variables: by name, as
// objects with a name, or as NAME=VALUE.
func isEnvironment(v jsonv.Value) bool {
	switch v.Kind() {
	case jsonv.KindString:
		return environment().MatchString(v.Text())
	case jsonv.KindObject:
		return !v.Lookup("PATH").IsAbsent()
	case jsonv.KindArray:
		for _, e := range v.Elems() {
			if isEnvironment(e) || e.Lookup("name").Text() == "PATH" || e.Lookup("key").Text() == "PATH" {
				return true
			}
		}
	}
	return false
}
