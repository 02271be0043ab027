package skill

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// A Comparison is the frontmatter of an entry held against that of SKILL.md.
type Comparison struct {
	Problem string // "" if they agree
	Unknown string // why it could not be decided
}

func differs(format string, args ...any) Comparison {
	return Comparison{Problem: fmt.Sprintf(format, args...)}
}

// CompareFrontmatter holds the frontmatter of an entry against the text of its SKILL.md.
func (e Entry) CompareFrontmatter(text string) Comparison {
	yaml, c := split(text)
	if c.Problem != "" || c.Unknown != "" {
		return c
	}
	if e.Frontmatter.Kind() != jsonv.KindObject {
		return Comparison{Unknown: "the entry has no frontmatter to compare with"}
	}
	node, problems := source.Parse(&source.File{Name: "SKILL.md", Data: []byte(yaml)})
	for _, d := range problems {
		if d.Severity == source.Error {
			return newUnreadable(d)
		}
	}
	if node == nil || node.Kind != source.KindMap {
		return differs("the frontmatter of SKILL.md is not a map of fields")
	}
	reader := &reader{}
	if at := reader.differ(node, e.Frontmatter, "frontmatter"); at != "" {
		if reader.unsure != "" {
			return Comparison{Unknown: reader.unsure}
		}
		return differs("%s", at)
	}
	return Comparison{}
}

// split returns the YAML between the two lines of hyphens.
func split(text string) (yaml string, c Comparison) {
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	first, rest, _ := strings.Cut(text, "\n")
	switch {
	case strings.TrimRight(first, " \t") == "---":
	case strings.HasPrefix(first, "--- "):
		return "", Comparison{Unknown: "the frontmatter begins in the line of its hyphens"}
	default:
		return "", differs("SKILL.md does not begin with YAML frontmatter (---)")
	}
	var b strings.Builder
	for line := range strings.Lines(rest) {
		if strings.TrimRight(line, " \t\n") == "---" && strings.HasPrefix(line, "-") {
			return b.String(), Comparison{}
		}
		b.WriteString(line)
	}
	return "", differs("the frontmatter of SKILL.md has no end (---)")
}

// ours are the mistakes that are limits of mcptest, or that readers of YAML disagree about.
var ours = []string{
	"too-deep", "alias-bomb", "recursive-alias", "tag", "key", "merge", "second-document", "encoding", "duplicate-key",
	"too-large",
}

// newUnreadable says what a mistake in the YAML means.
func newUnreadable(d source.Diagnostic) Comparison {
	if slices.Contains(ours, d.Code) {
		return Comparison{Unknown: "the frontmatter of SKILL.md could not be read: " + d.Msg}
	}
	if d.Code == "empty" {
		return differs("the frontmatter of SKILL.md is empty")
	}
	return differs("the frontmatter of SKILL.md is not valid YAML: line %d: %s", d.Pos.Line+1, d.Msg)
}

// reader compares YAML with JSON, as readers of YAML 1.1 and of 1.2 would.
type reader struct {
	unsure string // why a difference may be none
}

// differ returns what is different, "" if nothing is.
func (r *reader) differ(n *source.Node, v jsonv.Value, at string) string {
	switch n.Kind {
	case source.KindMap:
		return r.differMaps(n, v, at)
	case source.KindList:
		if v.Kind() != jsonv.KindArray || v.Len() != len(n.Items) {
			return r.say(n, v, at)
		}
		for i, item := range n.Items {
			if d := r.differ(item, v.At(i), source.PathIndex(at, i)); d != "" {
				return d
			}
		}
		return ""
	}
	if readsAs(n, v) {
		return ""
	}
	if isSpelledAs(n, v) {
		r.unsure = "some readers of skills take every value without quotes for a text, and others do not"
	}
	return r.say(n, v, at)
}

func (r *reader) differMaps(n *source.Node, v jsonv.Value, at string) string {
	if v.Kind() != jsonv.KindObject {
		return r.say(n, v, at)
	}
	if _, merges := v.Get("<<"); merges {
		r.unsure = "the frontmatter has a merge key (<<), which readers of YAML treat differently"
	}
	known := map[string]bool{}
	for _, f := range n.Fields {
		key := f.Key.Text
		known[key] = true
		own, found := v.Get(key)
		if !found {
			r.addDoubt(f.Key)
			return fmt.Sprintf("%s is in SKILL.md, but not in the entry", source.PathKey(at, key))
		}
		if d := r.differ(f.Value, own, source.PathKey(at, key)); d != "" {
			return d
		}
	}
	for _, key := range v.Keys() {
		if !known[key] {
			return fmt.Sprintf("%s is in the entry, but not in SKILL.md", source.PathKey(at, key))
		}
	}
	return ""
}

// addDoubt notes a key that is no text to some readers of YAML.
func (r *reader) addDoubt(key *source.Node) {
	if !key.Quoted && (isOldBool(key.Text) || !parseTime(key.Text).IsZero() || isOldNumber(key.Text)) {
		r.unsure = fmt.Sprintf("the key %s is not a text to readers of YAML 1.1", jsonv.String(key.Text).Short(40))
	}
}

func (r *reader) say(n *source.Node, v jsonv.Value, at string) string {
	return fmt.Sprintf("%s is %s in SKILL.md, and %s in the entry", at, n.JSON().Short(80), v.Short(80))
}
