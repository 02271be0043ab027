package snapshot

import (
	"regexp"
	"strings"
	"sync"

	"mcptest/internal/base/lazy"
	"mcptest/internal/base/lists"
)

// mask replaces text that differs from run to run by its name in angle brackets.
type mask struct {
	name string
	// re matches the text to replace: its last group, or the whole match if it has
	// none.
	re     *regexp.Regexp
	accept func(found string) bool // nil: everything that re finds
}

// ignored is the mark of a value that the suite ignores.
const ignored = "ignored"

// suiteDir is the name of the mask for the suite's folder, which differs from
// machine to machine.
const suiteDir = "suite-dir"

// masks are the built-in masks, in the order in which they are applied.
var masks = sync.OnceValue(func() []mask {
	return []mask{
		{suiteDir, nil, nil}, // made for the folder
		{"tmp", regexp.MustCompile(`(?:^|[^\w./\\-]|file://)((?:/private)?/(?:var/)?tmp/` + pathPart + `|(?:/private)?/var/folders/[^\s/]+/[^\s/]+/T(?:/` + pathPart + `)?|` +
			`(?i:[a-z]:[/\\](?:users[/\\][^\s/\\]+[/\\]appdata[/\\]local|windows)[/\\]temp[/\\]` + pathPart + `))`), nil},
		{"uuid", regexp.MustCompile(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`), nil},
		{"timestamp", regexp.MustCompile(`\b\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|z|UTC|GMT|[+-]\d\d:?\d\d))?\b|\b\d{8}T\d{6}(?:\.\d+)?Z\b|` +
			`\b(?:` + days + `),? \d\d? ` + months + ` \d{4} ` + clock + `|\b(?:` + days + `) ` + months + ` [ \d]\d (?:\d{4} ` + clock + `|` + clock + ` \d{4}\b)|` +
			`\b\d\d?[/.]\d\d?[/.]\d{4},? \d\d?:\d\d(?::\d\d)?(?:[ \x{202f}][AP]M)?\b|` +
			`(?:^|[^\w:.])(\d\d?:\d\d:\d\d(?:[.,]\d+)?(?:[ \x{202f}][AP]M)?\b|\d\d?:\d\d[ \x{202f}][AP]M\b)`), nil},
		{"duration", regexp.MustCompile(`\b(?:\d+h)?\d+m\d+(?:\.\d+)?s\b|\b\d+(?:\.\d+)? ?(?:ns|[uµμ]s|ms|(?:nano|micro|milli)seconds?)\b|\b\d+\.\d+ ?(?:s|secs?|seconds?)\b|` +
			`(?i:\b(?:took|elapsed|duration|(?:finished|completed|done) in|ran for)[:=]? +(\d+ ?(?:s|secs?|seconds?|min|minutes?))\b)`), nil},
		{"id", regexp.MustCompile(`\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b|\b(?:[0-9a-f]{24}|[0-9a-f]{32}|[0-9a-f]{40})\b|\b[a-zA-Z]{2,12}_[0-9A-Za-z]{10,48}\b`), random},
	}
})

const (
	pathPart = `[^\s/\\"'<>:;,)\]}|]+`
	days     = `Mon|Tue|Wed|Thu|Fri|Sat|Sun`
	months   = `(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)`
	clock    = `\d\d:\d\d:\d\d(?: (?:UTC|GMT)?(?:[+-]\d{4})?(?: \([^)\n]{1,60}\))?)?`
)

// Keys whose values are masked although their form alone does not show what
// they are.
var (
	idKey       = lazy.Regexp(`^(?:u|gu)?ids?$|[_-]ids?$|(?:Id|ID)s?$`)
	durationKey = lazy.Regexp(`(?i:^|[_-])(?i:duration|elapsed|latency|took|uptime)(?i:[_-]?(?:[mnu]?s|secs?|seconds|millis|milliseconds))?$|(?:Duration|Elapsed|Latency|Uptime)(?:Ms|MS|Sec|Secs|Seconds|Millis|Ns|Us)?$`)
	timeKey     = lazy.Regexp(`(?i:^|[_-])(?i:timestamp|time|date|created|updated|modified|expires|[abcm]time|iat|exp|nbf|ts|now)(?i:[_-]?(?:at|on|ms|s))?$|(?:At|On|Time|Timestamp|Date|Ms)$`)
)

// builtin returns the names of the built-in masks.
func builtin() []string {
	return lists.Map(masks(), func(m mask) string { return m.name })
}

// dirMask is the mask of the suite's folder; a folder at the top has none.
func dirMask(dir string) mask {
	m := mask{name: suiteDir}
	if len(strings.Trim(dir, `/\`)) > 2 {
		m.re = regexp.MustCompile(`(?:^|[^\w./\\-]|file://)(` + regexp.QuoteMeta(dir) + `)(?:$|[^\w-])`)
	}
	return m
}

// random reports whether a word looks as if it was drawn by chance: letters and
// digits take turns, as they rarely do in a word that a person chose.
func random(s string) bool {
	if i := strings.LastIndexByte(s, '_'); i >= 0 {
		s = s[i+1:]
	}
	if len(s) < 8 || len(s) > 64 {
		return false
	}
	turns, was := 0, -1
	for i := range len(s) {
		is := -1
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			is = 0
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			is = 1
		case c != '-':
			return false
		}
		if is >= 0 && was >= 0 && is != was {
			turns++
		}
		if is >= 0 {
			was = is
		}
	}
	return turns >= 3
}

// marks finds what masking leaves in a text; the group is everything after
// the bracket.
func marks(names []string, before string) *regexp.Regexp {
	quoted := lists.Map(names, regexp.QuoteMeta)
	return regexp.MustCompile(`<(` + before + `(?:(?:` + strings.Join(quoted, "|") + `)(?: number)?|#\d+|sha256 [0-9a-f]{64} of \d+ bytes)>)`)
}

// replace applies a mask to what lies between the marks of a text.
func (m *mask) replace(s string, marks *regexp.Regexp) string {
	if m.re == nil || !m.re.MatchString(s) {
		return s
	}
	var b strings.Builder
	at := 0
	for _, mark := range append(marks.FindAllStringIndex(s, -1), []int{len(s), len(s)}) {
		m.literal(&b, s[at:mark[0]])
		b.WriteString(s[mark[0]:mark[1]])
		at = mark[1]
	}
	return b.String()
}

func (m *mask) literal(b *strings.Builder, s string) {
	at := 0
	for _, g := range m.re.FindAllStringSubmatchIndex(s, -1) {
		from, to := g[0], g[1]
		for i := 2; i < len(g); i += 2 {
			if g[i] >= 0 {
				from, to = g[i], g[i+1]
			}
		}
		if from == to || m.accept != nil && !m.accept(s[from:to]) {
			continue
		}
		b.WriteString(s[at:from] + "<" + m.name + ">")
		at = to
	}
	b.WriteString(s[at:])
}
