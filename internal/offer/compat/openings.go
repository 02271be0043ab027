package compat

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/term"
	"mcptest/internal/offer/opening"
)

// An Opening is what replaying one script with one server showed.
type Opening struct {
	Server  string // the name of a server of a suite, or its own
	File    string // where the server is defined
	Line    int
	Verdict opening.Verdict
}

// isOpening reports whether the name of a rule is that of an opening.
func isOpening(id string) bool { return strings.HasPrefix(id, "opening-") }

// withOpenings returns the rules with one for each client and transport of the openings.
func (r Rules) withOpenings() []Rule {
	out := slices.Clip(r.Rules)
	for _, s := range r.Openings {
		if slices.ContainsFunc(out, func(rule Rule) bool { return rule.ID == s.Rule() }) {
			continue
		}
		out = append(out, Rule{
			ID:       s.Rule(),
			Profile:  opening.Family(s.Client),
			Effect:   SessionLost,
			Level:    Level(cmp.Or(s.Level, string(LevelError))),
			Basis:    "observed",
			Source:   s.Source,
			Seen:     s.Seen,
			Versions: s.Versions,
			Expires:  s.Expires(),
			Message:  s.Title + " over " + s.Transport + " does not get in",
			Fix:      "depends on the answer that ends the opening",
		})
	}
	return out
}

// writeOpening explains the rule of an opening with its frames.
func (r Rules) writeOpening(w io.Writer, rule Rule) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s, effect: %s)\n\n", rule.ID, rule.Level, rule.Effect)
	fmt.Fprintf(&b, "replayed: what the client sends to open a connection. It gets in if it accepts the handshake and the first tools/list.\n")
	for _, s := range r.Openings {
		if s.Rule() != rule.ID {
			continue
		}
		fmt.Fprintf(&b, "\n%s, script %s%s\n", s.Title, s.Name, versions(Rule{Versions: s.Versions}))
		for _, line := range s.Describe() {
			fmt.Fprintf(&b, "  %s\n", line)
		}
		fmt.Fprintf(&b, "  observed on %s, valid until %s: %s\n", s.Seen, s.Expires(), s.Source)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Known returns the names that --for takes: those of clients and directories, and of the
// clients whose openings are known.
func (r Rules) Known() []string {
	names := r.Clients()
	for _, s := range r.Openings {
		if !slices.Contains(names, s.Client) {
			names = append(names, s.Client)
		}
	}
	return names
}

// All returns the rules, with one for each client and transport of the openings.
func (r Rules) All() []Rule { return r.withOpenings() }

// Families returns the profiles that stand for clients.
func (r Rules) Families(names []string) []string {
	out := slices.Clone(names)
	for i, name := range out {
		if _, known := r.profile(name); !known {
			out[i] = opening.Family(name)
		}
	}
	return out
}

// chosenOpenings returns rules that only have the openings of a choice.
func (r Rules) chosenOpenings(clients, groups []string) Rules {
	out := Rules{counted: len(clients) > 0 || slices.Contains(groups, GroupOpenings)}
	if len(groups) > 0 && !slices.Contains(groups, GroupOpenings) {
		return out
	}
	for _, s := range r.Openings {
		if len(clients) == 0 || slices.Contains(clients, s.Client) || slices.Contains(clients, opening.Family(s.Client)) {
			out.Openings = append(out.Openings, s)
		}
	}
	return out
}

// opens reports whether there is an opening of a client or its family.
func (r Rules) opens(name string) bool {
	return slices.ContainsFunc(r.Openings, func(s opening.Script) bool {
		return s.Client == name || opening.Family(s.Client) == name
	})
}

// AddOpenings adds what replays showed, as findings, too.
func (r *Report) AddOpenings(all []Opening, notes []string, rules Rules, today time.Time) {
	r.Openings = append([]Opening{}, all...)
	r.Notes = append(r.Notes, notes...)
	if r.servers == nil {
		r.servers = map[string]bool{}
	}
	uncounted := false
	for i, o := range all {
		r.servers[o.Server] = true
		if o.Verdict.Connected || o.Verdict.Unjudged != "" {
			continue
		}
		f := r.openingFinding(all, i, today)
		if !rules.counted {
			f.declared = f.Level
			uncounted = true
		}
		r.places = append(r.places, f)
	}
	r.Servers = len(r.servers)
	if uncounted {
		r.Notes = append(r.Notes, "openings are predictions: they count for the exit code with --only openings, and where --for names the client")
	}
	r.Notes = append(r.Notes, unjudgedNotes(all)...)
	r.sort()
	r.combine(rules)
}

// openingFinding is the finding of a client that does not get in: an error if none of its
// scripts over this transport does.
func (r *Report) openingFinding(all []Opening, i int, today time.Time) Finding {
	o := all[i]
	v, s := o.Verdict, o.Verdict.Script
	level := Level(cmp.Or(s.Level, string(LevelError)))
	for _, other := range all {
		if other.Server == o.Server && other.Verdict.Script.Rule() == s.Rule() && other.Verdict.Connected {
			level = LevelWarning
		}
	}
	evidence := "observed " + s.Seen + versions(Rule{Versions: s.Versions})
	if s.Expired(today) {
		level = LevelWarning
		evidence += "; not confirmed since"
	}
	message := v.Sentence("")
	if s.Name != "initialize" || level == LevelWarning {
		message += " (script " + s.Name + ")"
	}
	return Finding{
		Rule: s.Rule(), Profile: opening.Family(s.Client), Client: s.Client, Effect: SessionLost, Level: level,
		Server: o.Server, Subject: "opening " + s.Name, Message: message, Fix: v.Fix,
		Basis: "observed", Source: s.Source, Seen: s.Seen, Evidence: evidence + ": " + s.Source, File: o.File, Line: o.Line,
	}
}

// unjudgedNotes says once for each reason why openings were not judged.
func unjudgedNotes(all []Opening) (notes []string) {
	byReason := map[string][]string{}
	var reasons []string
	for _, o := range all {
		why := o.Verdict.Unjudged
		if why == "" {
			continue
		}
		if byReason[why] == nil {
			reasons = append(reasons, why)
		}
		name := o.Verdict.Script.Title
		if !slices.Contains(byReason[why], name) {
			byReason[why] = append(byReason[why], name)
		}
	}
	for _, why := range reasons {
		notes = append(notes, "openings not judged ("+strings.Join(byReason[why], ", ")+"): "+why)
	}
	return notes
}

// withoutEntry adds to verdicts the clients that do not get in: a profile is lost if every
// client that it stands for is, and degraded if some are.
func (r *Report) withoutEntry(all []Verdict) []Verdict {
	for i := range all {
		v := &all[i]
		judged, lost := 0, 0
		for _, o := range r.Openings {
			if opening.Family(o.Verdict.Script.Client) != v.Profile || o.Verdict.Unjudged != "" {
				continue
			}
			judged++
			accepted := !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Rule == o.Verdict.Script.Rule() })
			if !o.Verdict.Connected && !accepted {
				lost++
			}
		}
		switch {
		case lost == 0:
		case lost == judged:
			v.Effect = string(SessionLost)
		case v.Effect == "ok":
			v.Effect = string(Degraded)
		}
	}
	return all
}

// clientLines groups openings by server and client, in their order.
func (r Report) clientLines() (lines [][]Opening) {
	for _, o := range r.Openings {
		i := slices.IndexFunc(lines, func(l []Opening) bool {
			return l[0].Server == o.Server && l[0].Verdict.Script.Client == o.Verdict.Script.Client
		})
		if i < 0 {
			lines = append(lines, []Opening{o})
		} else {
			lines[i] = append(lines[i], o)
		}
	}
	return lines
}

// openingsText writes a line for each client.
func (r Report) openingsText(b *strings.Builder, p term.Palette) {
	width := 0
	for _, o := range r.Openings {
		width = max(width, len(o.Verdict.Script.Title))
	}
	for _, line := range r.clientLines() {
		name := line[0].Verdict.Script.Title
		if r.Servers > 1 {
			name = term.Escape(line[0].Server) + ": " + name
		}
		fmt.Fprintf(b, "%s%s", name, strings.Repeat(" ", max(0, width-len(line[0].Verdict.Script.Title))))
		for _, cell := range openingCells(line) {
			style := map[string]term.Style{"✓": term.Good, "!": term.Warn, "✗": term.Bad, "?": term.Faint}[cell.mark]
			fmt.Fprintf(b, "  %s %s", cell.transport, p.Paint(style, cell.mark))
			if cell.text != "" {
				fmt.Fprintf(b, " %s", term.Escape(cell.text))
			}
		}
		b.WriteByte('\n')
	}
}

// openingCell is what one line says about a transport.
type openingCell struct{ transport, mark, text string }

// openingCells sums up the scripts of a client for each transport.
func openingCells(line []Opening) (cells []openingCell) {
	for _, transport := range []string{opening.Stdio, opening.HTTP} {
		var in, lost, unjudged []opening.Verdict
		for _, o := range line {
			switch v := o.Verdict; {
			case v.Script.Transport != transport:
			case v.Unjudged != "":
				unjudged = append(unjudged, v)
			case v.Connected:
				in = append(in, v)
			default:
				lost = append(lost, v)
			}
		}
		cell := openingCell{transport: strings.ToUpper(transport)}
		if transport == opening.Stdio {
			cell.transport = transport
		}
		switch {
		case len(in) > 0 && len(lost) > 0:
			cell.mark = "!"
			cell.text = in[0].Revision + ", but some versions do not get in: " + lost[0].What()
		case len(in) > 0:
			cell.mark, cell.text = "✓", in[0].Revision
			for _, v := range in {
				if v.Doubt != "" {
					cell.text = in[0].Revision + " (! " + v.Doubt + ")"
				}
			}
		case len(lost) > 0:
			cell.mark, cell.text = "✗", lost[0].What()
		case len(unjudged) > 0:
			cell.mark, cell.text = "?", "not judged"
		default:
			continue
		}
		cells = append(cells, cell)
	}
	return cells
}

// openingsMarkdown writes a table of the clients.
func (r Report) openingsMarkdown(b *strings.Builder) {
	if len(r.Openings) == 0 {
		return
	}
	b.WriteString("| opening | transport | gets in | |\n|---|---|---|---|\n")
	for _, line := range r.clientLines() {
		name := line[0].Verdict.Script.Title
		if r.Servers > 1 {
			name = line[0].Server + ": " + name
		}
		for _, c := range openingCells(line) {
			fmt.Fprintf(b, "| %s | %s | %s | %s |\n", cell(name), c.transport, c.mark, cell(c.text))
		}
	}
	b.WriteByte('\n')
}

// openingsJSON adds the openings to a document, if any were replayed.
func (r Report) openingsJSON(doc map[string]any) {
	if r.Openings == nil {
		return
	}
	judged, unjudged := []map[string]any{}, []map[string]any{}
	for _, o := range r.Openings {
		v := o.Verdict
		entry := map[string]any{"client": v.Script.Client, "transport": v.Script.Transport, "script": v.Script.Name}
		if r.Servers > 1 {
			entry["server"] = o.Server
		}
		if v.Unjudged != "" {
			entry["why"] = v.Unjudged
			unjudged = append(unjudged, entry)
			continue
		}
		entry["connected"], entry["source"], entry["seen"] = v.Connected, v.Script.Source, v.Script.Seen
		entry["revision"], entry["reason"] = v.Revision, v.Reason
		if v.Doubt != "" {
			entry["doubt"] = v.Doubt
		}
		if !v.Connected {
			entry["method"], entry["answer"], entry["then"], entry["fix"] = v.Method, v.Says, v.Does, v.Fix
			entry["correct"] = v.Correct
		}
		judged = append(judged, entry)
	}
	doc["openings"] = judged
	if len(unjudged) > 0 {
		doc["openings_not_judged"] = unjudged
	}
}

// MaskOpenings masks what servers said.
func MaskOpenings(all []Opening, mask func(string) string) {
	for i := range all {
		v := &all[i].Verdict
		for _, text := range []*string{&v.Says, &v.Unjudged, &v.Doubt, &v.Revision} {
			*text = mask(*text)
		}
	}
}

// unjudged returns the number of openings that were not judged.
func (r Report) unjudged() (n int) {
	for _, o := range r.Openings {
		if o.Verdict.Unjudged != "" {
			n++
		}
	}
	return n
}
