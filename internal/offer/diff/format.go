package diff

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/offer/surface"
	"mcptest/internal/report/gate"
	"mcptest/internal/report/html"
)

// Write prints changes in a format of gate.
func Write(w io.Writer, format string, changes []Change, version string) error {
	rules, list := listFindings(changes)
	return gate.Document{
		Title: "mcptest diff", Version: version, Rules: rules, Findings: list,
		Text:     func(b *strings.Builder) { writeText(b, changes) },
		Markdown: func(b *strings.Builder) { writeMarkdown(b, changes) },
		JSON: func(b *strings.Builder) {
			b.WriteString(display.JSON(string(formatJSON(changes).Indent("", "  "))) + "\n")
		},
		Page: func() html.Sheet { return makePage(changes) },
	}.Write(w, format)
}

// Summary counts the changes of each class.
func Summary(changes []Change) string {
	if len(changes) == 0 {
		return "no changes"
	}
	var parts []string
	for _, c := range Classes() {
		if n := count(changes, c); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, c))
		}
	}
	return strings.Join(parts, ", ")
}

func count(changes []Change, c Class) int {
	n := 0
	for _, ch := range changes {
		if ch.Class == c {
			n++
		}
	}
	return n
}

func (ch *Change) nameSubject() string {
	what := strings.TrimSpace(ch.Kind.Noun() + " " + display.Escape(ch.Name))
	if ch.Server != "" && ch.Kind != surface.Server {
		return display.Escape(ch.Server) + ": " + what
	}
	return what
}

// maxShownWitness limits a witness in text for people; JSON contains it in full.
const maxShownWitness = 2000

func (ch *Change) showWitness() string {
	if s := display.Escape(ch.Witness); len(s) <= maxShownWitness {
		return s
	}
	return fmt.Sprintf("(%d bytes: -f json shows it)", len(ch.Witness))
}

func writeText(b *strings.Builder, changes []Change) {
	for _, ch := range changes {
		fmt.Fprintf(b, "%-8s  %s", ch.Class, ch.nameSubject())
		if ch.Pointer != "" {
			b.WriteString("  " + display.Escape(ch.Pointer))
		}
		fmt.Fprintf(b, "\n          %s\n", display.Escape(ch.Message))
		if ch.Witness != "" {
			fmt.Fprintf(b, "          e.g. %s\n", ch.showWitness())
		}
	}
	b.WriteString(Summary(changes) + "\n")
}

func writeMarkdown(b *strings.Builder, changes []Change) {
	fmt.Fprintf(b, "**%s**\n", Summary(changes))
	if len(changes) == 0 {
		return
	}
	b.WriteString("\n| Class | Definition | Change |\n|---|---|---|\n")
	for _, ch := range changes {
		text := display.Markdown(ch.Message)
		if ch.Witness != "" {
			text += "<br>" + display.QuoteMarkdownCode(ch.showWitness())
		}
		what := ch.Kind.Noun() + " " + display.QuoteMarkdownCode(ch.Name+" "+ch.Pointer)
		if ch.Server != "" && ch.Kind != surface.Server {
			what = display.QuoteMarkdownCode(ch.Server) + ": " + what
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", ch.Class, what, text)
	}
}

// makePage returns the changes as a page, with the number of each class.
func makePage(changes []Change) html.Sheet {
	page := html.Sheet{Title: "changes of what the server offers", Notes: []string{Summary(changes)}}
	switch {
	case count(changes, Breaking) > 0:
		page.Verdict, page.Class = "Breaking", "bad"
	case count(changes, Trust)+count(changes, Review) > 0:
		page.Verdict, page.Class = "Look at it", "warn"
	case len(changes) == 0:
		page.Verdict, page.Class = "No changes", "good"
	default:
		page.Verdict, page.Class = "Compatible", "good"
	}
	for _, c := range Classes() {
		page.Tiles = append(page.Tiles, html.Tile{Number: strconv.Itoa(count(changes, c)), Text: string(c)})
	}
	if len(changes) == 0 {
		return page
	}
	table := html.Table{
		Title:     "Changes",
		Head:      []string{"definition", "class", "place", "change", "for example"},
		Sentences: true,
	}
	for _, ch := range changes {
		table.Rows = append(table.Rows, []string{
			ch.nameSubject(), string(ch.Class), ch.Pointer, ch.Message, ch.showWitness(),
		})
	}
	page.Tables = []html.Table{table}
	return page
}

func formatJSON(changes []Change) jsonv.Value {
	list := make([]jsonv.Value, 0, len(changes))
	for _, ch := range changes {
		change := jsonv.ObjectOf(
			"class", string(ch.Class),
			"kind", string(ch.Kind),
			"name", ch.Name,
			"pointer", ch.Pointer,
			"message", ch.Message,
		)
		if ch.Server != "" {
			change = change.With("server", jsonv.String(ch.Server))
		}
		if ch.Witness != "" {
			change = change.With("witness", jsonv.String(ch.Witness))
		}
		list = append(list, change)
	}
	var sums []any
	for _, c := range Classes() {
		sums = append(sums, string(c), count(changes, c))
	}
	return jsonv.ObjectOf("changes", jsonv.Array(list...), "summary", jsonv.ObjectOf(sums...))
}

// listFindings returns the changes as findings of a quality gate.
func listFindings(changes []Change) (rules []gate.Rule, out []gate.Finding) {
	docs := map[Class]string{
		Breaking: "A valid call is rejected now, or an impossible response is allowed now.", Trust: "A promise was withdrawn, or a text may mislead a model.",
		Review: "A change that a person must look at.", Safe: "A compatible change.",
	}
	levels := map[Class]string{Breaking: "error", Trust: "warning", Review: "note", Safe: "note"}
	for _, c := range Classes() {
		rules = append(rules, gate.Rule{ID: "surface/" + string(c), Text: docs[c]})
	}
	for _, ch := range changes {
		text := ch.Message
		if ch.Witness != "" {
			text += "; for example " + ch.showWitness()
		}
		out = append(out, gate.Finding{
			Rule:    "surface/" + string(ch.Class),
			Level:   levels[ch.Class],
			Subject: ch.nameSubject(),
			Pointer: ch.Pointer,
			Message: text,
			File:    ch.File,
			Line:    ch.Line,
		})
	}
	return rules, out
}
