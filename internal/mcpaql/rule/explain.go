package rule

import (
	"fmt"
	"strings"

	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
)

// Explain describes what a test checks and how to fix a failure, or the requirement
// of a single rule. The topic is a test's name or id, a rule's id or a category's
// name, in any case. If nothing has that name, ok is false and the text is the
// nearest name, or "".
func Explain(topic string) (text string, ok bool) {
	topic = strings.TrimSpace(topic)
	var names []string
	for _, t := range Tests() {
		names = append(names, t.Name, t.ID)
		if strings.EqualFold(topic, t.Name) || strings.EqualFold(topic, t.ID) {
			return explainTest(t), true
		}
	}
	for _, r := range All() {
		names = append(names, r.ID)
		if strings.EqualFold(topic, r.ID) {
			return explainRule(r), true
		}
	}
	for _, c := range Categories() {
		names = append(names, c.Name)
		if !strings.EqualFold(topic, c.Name) {
			continue
		}
		var b strings.Builder
		for _, t := range c.tests() {
			b.WriteString(explainTest(t) + "\n")
		}
		return strings.TrimSuffix(b.String(), "\n"), true
	}
	return source.FindNearest(topic, names), false
}

func explainTest(t Test) string {
	var b strings.Builder
	requirement := lists.First(table().Categories, func(c Category) bool { return c.Name == t.Category }).Requirement
	fmt.Fprintf(&b, "%s  (%s)\n%s [%s], %s\n\n%s\n\n", t.Name, t.ID, t.Category, requirement, t.Section, t.About)
	for _, r := range t.rules() {
		b.WriteString("  " + strings.ReplaceAll(strings.TrimSpace(explainRule(r)), "\n", "\n  ") + "\n\n")
	}
	switch t.ID {
	case "batch":
		b.WriteString("  The response is also checked by the rules of a result: see explain error-form.\n")
	case "extensions":
		b.WriteString("  The rules are those whose id ends in members: see explain details.\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func explainRule(r Rule) string {
	return fmt.Sprintf("%s  %s, %s  (reference: %s, strict: %s)\n%s\nFix: %s\n",
		r.ID, r.Requirement, r.Section, r.Reference, r.Strict, r.Says, r.Fix)
}

// WriteMarkdown returns the reference documentation of the rules.
func WriteMarkdown() string {
	var b strings.Builder
	b.WriteString(table().Introduction)
	for _, d := range Documents() {
		fmt.Fprintf(&b, "| %s | %s |\n", d[0], d[1])
	}
	for _, c := range Categories() {
		fmt.Fprintf(&b, "\n## %s\n\n%s, from level %d on.\n", c.Name, c.Requirement, c.Level)
		if c.Live {
			b.WriteString("Only live runs, and the bundles that they write, have it.\n")
		}
		for _, t := range c.tests() {
			testMarkdown(&b, t)
		}
	}
	return b.String()
}

func testMarkdown(b *strings.Builder, t Test) {
	fmt.Fprintf(b, "\n### %s\n\n`%s` (%s). %s\n", t.Name, t.ID, t.Section, t.About)
	if t.Live {
		b.WriteString("Only live runs, and the bundles that they write, have the row.\n")
	}
	head := "\n| rule | section | reference | strict | requirement | when it is broken |\n|---|---|---|---|---|---|\n"
	for _, r := range t.rules() {
		b.WriteString(head)
		head = ""
		fmt.Fprintf(b, "| `%s` | %s %s | %s | %s | %s | %s |\n", r.ID, r.Requirement, r.Section, r.Reference, r.Strict,
			escapeCell(r.Says), escapeCell(r.Fix))
	}
}

// escapeCell escapes a sentence for a cell of a Markdown table.
func escapeCell(s string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "<", "&lt;").Replace(s)
}
