package draft

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
)

// YAML returns the text of the suite.
func (s *Suite) YAML() []byte {
	w := &writer{suite: s}
	w.writeHeading()
	w.writeServer()
	w.writeUpstreams()
	for _, block := range s.listBlocks() {
		w.writeBlock(block)
	}
	if len(s.Omitted) > 0 {
		w.line("# Omitted, for you to write:")
	}
	for _, o := range s.Omitted {
		w.line("# - %s", display.OneLine(o))
	}
	return w.b.Bytes()
}

type writer struct {
	suite *Suite
	b     bytes.Buffer
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

func (w *writer) writeHeading() {
	if w.suite.Schema != "" {
		w.line("# yaml-language-server: $schema=%s", w.suite.Schema)
		w.line("#")
	}
	w.line("# A first suite, generated from the responses of %s.", cmp.Or(comment(w.suite.From), "the server"))
	w.line("#")
	w.line("# \"review\" marks observed behavior: keep the line if the behavior is correct; if not, write what is correct.")
	if w.suite.Recorded {
		w.line("# The requests come from a recording. Each run repeats their effects.")
	} else {
		w.line("# Arguments were generated from the tools' schemas; realistic ones make better tests.")
	}
	w.line("name: %s", literal(w.suite.Name))
	w.line("")
}

func (w *writer) writeServer() {
	sv := w.suite.Server
	if len(sv.Env) > 0 {
		w.line("variables:")
		for _, name := range sv.Env {
			secret := ", secret: true"
			if slices.Contains(sv.Plain, name) {
				secret = ""
			}
			w.line("  %s: {from_env: %s%s}", quote(name), quote(name), secret)
		}
		w.line("")
	}
	if len(sv.Copies) > 0 {
		w.line("run_options: {parallel: false}")
		w.line("")
	}
	w.line("servers:")
	for _, entry := range append([]Copy{{sv.Name, sv.Respond}}, sv.Copies...) {
		w.writeEntry(entry)
	}
	w.line("")
}

// writeEntry writes one entry of the server.
func (w *writer) writeEntry(entry Copy) {
	sv := w.suite.Server
	w.line("  %s:", quote(entry.Name))
	switch {
	case sv.URL != "":
		w.line("    url: %s", quote(sv.URL))
	case sv.Bundle != "":
		w.line("    command: {bundle: %s}", quote(sv.Bundle))
	default:
		w.line("    command: [%s]", strings.Join(lists.Map(sv.Command, quote), ", "))
	}
	text := func(key, value string) {
		if value != "" {
			w.line("    %s: %s", key, quote(value))
		}
	}
	text("cwd", sv.Cwd)
	text("transport", sv.Transport)
	if sv.Mute {
		w.line("    # it does not respond to server/discover, for which each run would wait without this line")
	}
	text("protocol", sv.Protocol)
	text("client", sv.Client)
	w.access()
	if len(sv.Tolerate) > 0 {
		w.line("    # review: the server breaks the protocol; without this line its tests fail")
		w.line("    tolerate: [%s]", strings.Join(sv.Tolerate, ", "))
	}
	if !entry.Respond.IsAbsent() {
		w.line("    # review: the answers of the client to requests of the server")
		w.line("    respond: %s", w.suite.mask(flow(entry.Respond)))
	}
}

// writeUpstreams writes the doubles of APIs.
func (w *writer) writeUpstreams() {
	if len(w.suite.Upstreams) == 0 {
		return
	}
	w.line("upstreams:")
	for _, u := range w.suite.Upstreams {
		w.line("  %s:", quote(u.Name))
		w.line("    stands_for: %s", literal(u.StandsFor))
		w.line("    into: {env: %s}", quote(u.Env))
		if u.Allowed {
			w.line("    # review: the server sends requests on its own that were not recorded")
			w.line("    unmatched: 404")
		}
		w.line("    routes:")
		for _, r := range u.Routes {
			w.line("      - match: %s", flow(r.Lookup("match")))
			w.line("        reply: %s", flow(r.Lookup("reply")))
		}
	}
	w.line("")
}

// access writes credentials, TLS settings and variables.
func (w *writer) access() {
	sv := w.suite.Server
	if sv.Bearer != "" {
		w.line("    auth: {bearer_token_env: %s}", quote(sv.Bearer))
	}
	if len(sv.Headers) > 0 {
		w.line("    headers:")
		for _, h := range sv.Headers {
			w.line("      %s: {env: %s}", quote(h[0]), quote(h[1]))
		}
	}
	if sv.CAFile != "" || sv.Insecure {
		w.line("    tls:")
		if sv.CAFile != "" {
			w.line("      ca_file: %s", quote(sv.CAFile))
		}
		if sv.Insecure {
			w.line("      insecure: true")
		}
	}
	// Only variables that are not part of a command are passed to the server.
	env, used := slices.Clone(sv.Values), fmt.Sprint(sv.Command, sv.Values)
	for _, name := range sv.Env {
		if sv.URL == "" && !strings.Contains(used, "${"+name+"}") {
			env = append(env, [2]string{name, "${" + name + "}"})
		}
	}
	if len(env) > 0 {
		w.line("    env:")
		for _, e := range env {
			w.line("      %s: %s", quote(e[0]), quote(e[1]))
		}
	}
}

func (w *writer) writeBlock(name string) {
	first := true
	names := w.suite.Names()
	for i, t := range w.suite.Tests {
		if block, _, _ := t.makeBlock(); block != name {
			continue
		}
		if first {
			w.line("%s:", name)
		}
		first = false
		w.test(t, names[i])
	}
}

// keys are the keys that identify the subject of a test, by block.
var keys = map[string][2]string{
	"tools": {"tool", "args"}, "resources": {"uri", ""}, "prompts": {"prompt", "args"}, "protocol": {"method", "params"},
}

func (w *writer) test(t *Test, name string) {
	block, subject, args := t.makeBlock()
	key := keys[block]
	w.line("  - name: %s", literal(name))
	if len(w.suite.Server.Copies) > 0 {
		w.line("    server: %s", quote(t.Server))
	}
	w.line("    %s: %s", key[0], literal(subject))
	if key[1] != "" && args.Len() > 0 {
		w.line("    %s: %s", key[1], w.suite.mask(flow(args)))
	}
	if t.Skip != "" {
		w.line("    skip: %s", literal(display.OneLine(w.suite.WithoutLocal(w.suite.mask(t.Skip)))))
	}
	if t.Skip != "" && t.Without == nil {
		w.line("")
		return
	}
	if t.InvalidArgs {
		w.line("    invalid_args: true")
	}
	if reason := w.formatReason(t); reason != "" {
		what := "these arguments were"
		if t.List != "" {
			what = "the list was"
		}
		w.line("    # review: %s refused: %s", what, reason)
	}
	items := w.suite.expect(t)
	if len(items) > 0 {
		w.line("    expect:")
	}
	for _, a := range items {
		w.line("      # review%s", strings.TrimSuffix(": "+a.note, ": "))
		w.line("      - {target: %s, matcher: {%s: %s}}", literal(a.target), a.matcher, flow(a.value))
	}
	w.line("")
}

// formatReason returns the message of a refusal, if every answer was a refusal.
func (w *writer) formatReason(t *Test) string {
	if len(t.Answers) == 0 || !t.holdsForAll(Answer.Refused) {
		return ""
	}
	return cmp.Or(comment(w.suite.WithoutLocal(w.suite.mask(t.Answers[0].Reason))), "without a word")
}

// Names returns the names of the tests, in the order of Tests. Each name is unique.
func (s *Suite) Names() []string {
	out := make([]string, len(s.Tests))
	taken := map[string]bool{}
	for i, t := range s.Tests {
		name := s.chooseName(t)
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s (%d)", s.chooseName(t), n)
		}
		taken[name] = true
		out[i] = name
	}
	return out
}

func (s *Suite) chooseName(t *Test) string {
	name := display.OneLine(s.mask(t.Subject))
	switch {
	case t.Without != nil:
		return name + " refuses a call without " + display.OneLine(s.mask(display.List(t.Without, 3)))
	case t.List != "" && !t.Refused():
		return "the " + t.List + " that there are"
	case t.Skip != "":
		return cmp.Or(name, "a nameless one")
	case len(t.Answers) > 0 && t.holdsForAll(Answer.Refused):
		return name + " refuses"
	}
	return name + " answers"
}

func (s *Suite) mask(text string) string {
	if s.Mask == nil {
		return text
	}
	return s.Mask(text)
}

// maxComment bounds the text quoted from a server in a comment, in characters.
const maxComment = 160

// comment makes a text fit for the rest of a line after #.
func comment(s string) string { return display.Truncate(display.OneLine(s), maxComment) }

// literal formats a text in which placeholders are escaped.
func literal(s string) string { return quote(EscapePlaceholders(s)) }

// quote formats a text as a YAML scalar.
func quote(s string) string { return source.FlowText(s) }

// flow formats a value in YAML's flow style. Placeholders in its texts are escaped.
func flow(v jsonv.Value) string { return source.Flow(v, literal) }

// MakeSkeleton returns the entry of a test whose response is not known. It fails until a
// person has written the expected response.
func MakeSkeleton(t *Test) string {
	target := ""
	switch t.Block {
	case "tools":
		target = "text"
	case "resources":
		target = "result.contents[0].text"
	case "prompts":
		target = "result.messages[0].content.text"
	}
	w := &writer{suite: &Suite{}}
	w.test(t, w.suite.chooseName(t))
	return strings.TrimRight(w.b.String(), "\n") + `
    expect:
      # review: what the response must contain
      - {target: ` + literal(target) + `, matcher: {contains: "TODO: what the response must contain"}}
`
}
