package compat

import (
	"regexp"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/source"
	"mcptest/internal/report/gate"
)

// The placeholders of texts.
var (
	placeholder      = lazy.Regexp(`\{(\w+)\}`)
	rulePlaceholders = []string{"value", "text", "length", "server", "tools"}
	namePlaceholders = []string{"server", "tool"}
)

// checkFields reports mistakes that the types of the fields do not exclude: names
// that are in use, empty texts and misspelled placeholders.
func (r Rules) checkFields(more Rules, n *source.Node, d *source.Decoder) {
	report := func(block string, i int, key, format string, args ...any) *source.Diagnostic {
		at := n.Get(block).Items[i]
		return d.Errorf(at.Get(key), source.PathIndex(block, i)+"."+key, format, args...)
	}
	text := func(block string, i int, key, value string, known []string) {
		if strings.TrimSpace(value) == "" && known == nil {
			report(block, i, key, "must not be empty")
		}
		for _, m := range placeholder().FindAllStringSubmatch(value, -1) {
			if known != nil && !slices.Contains(known, m[1]) {
				report(block, i, key, "unknown placeholder %s%s", m[0], source.Parenthesis(source.DidYouMean(m[1], known))).Hint =
					"{" + strings.Join(known, "}, {") + "} are replaced"
			}
		}
	}
	for i, p := range more.Profiles {
		text("profiles", i, "name", p.Name, nil)
		text("profiles", i, "title", p.Title, nil)
		text("profiles", i, "qualified_name", p.Qualified, namePlaceholders)
		if _, err := regexp.Compile(p.Installs); err != nil {
			report("profiles", i, "server_name", "%v", err)
		}
		_, taken := r.findProfile(p.Name)
		switch {
		case p.Name == "all" || p.Name == "baseline":
			report("profiles", i, "name", "%q cannot be the name of a profile: it has another meaning", p.Name)
		case taken || slices.ContainsFunc(more.Profiles[:i], func(q Profile) bool { return q.Name == p.Name }):
			report("profiles", i, "name", "duplicate profile %q", p.Name)
		}
	}
	for i, rule := range more.Rules {
		for key, value := range map[string]string{"id": rule.ID, "message": rule.Message, "fix": rule.Fix} {
			text("rules", i, key, value, nil)
		}
		text("rules", i, "message", rule.Message, rulePlaceholders)
		text("rules", i, "fix", rule.Fix, rulePlaceholders)
		if !strings.HasPrefix(rule.Source, "https://") && !strings.HasPrefix(rule.Source, "http://") {
			report("rules", i, "source", "expected a URL that begins with https:// or http://, got %q", display.Truncate(rule.Source, 80))
		}
		taken := r.isTaken(rule.ID)
		hasID := func(q Rule) bool {
			return q.ID == rule.ID
		}
		if taken || rule.ID == gate.StaleBaseline || slices.ContainsFunc(more.Rules[:i], hasID) {
			report("rules", i, "id", "duplicate rule %q", rule.ID).Hint = "choose another id; a baseline accepts findings of a rule"
		}
	}
}
