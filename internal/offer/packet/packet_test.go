package packet

import (
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/offer/apps"
	"mcptest/internal/offer/compat"
)

var today = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

func parse(t *testing.T, text string) jsonv.Value {
	t.Helper()
	v, err := jsonv.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// fill writes one field.
func fill(field string, facts Facts) string {
	forms, err := load([]byte("forms: [{directory: d, title: T, portal: 'https://d.example'}]\nfields:\n  - {form: d, section: S, label: L, " +
		field + ", source: 'https://d.example/form', seen: 2026-10-05, expires: 2027-10-05}\n"))
	if err != nil {
		return err.Error()
	}
	if facts.Day.IsZero() {
		facts.Day = today
	}
	var b strings.Builder
	_ = Write(&b, forms[0], facts)
	return b.String()
}

// Every field has an address, a day on which it was read, and one on which it expires; every
// kind is in a form.
func TestFields(t *testing.T) {
	t.Parallel()
	forms, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	rules, err := compat.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, form := range forms {
		if _, err := rules.Choose([]string{form.Directory}, nil, false); err != nil {
			t.Errorf("%s: %v", form.Directory, err)
		}
		if len(form.fields) < 20 {
			t.Errorf("%s has %d fields", form.Directory, len(form.fields))
		}
		for _, f := range form.fields {
			kinds[f.Kind] = true
			if seen, err := time.Parse(time.DateOnly, f.Seen); err != nil || seen.After(time.Now().AddDate(0, 0, 1)) {
				t.Errorf("%s: seen %q", f.Label, f.Seen)
			}
			if !strings.HasPrefix(f.Source, "https://") || f.Expires == "" {
				t.Errorf("%s: source %q, expires %q", f.Label, f.Source, f.Expires)
			}
		}
	}
	if len(kinds) != 17 {
		t.Errorf("%d kinds of fields are used: %v", len(kinds), kinds)
	}
}

func TestFieldsWithoutEvidence(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"source: notes, seen: 2026-10-05, expires: 2027-10-05",
		"source: 'https://d.example', seen: October, expires: 2027-10-05",
		"source: 'https://d.example', seen: 2026-10-05, expires: 2026-10-05",
		"source: 'https://d.example', seen: 2026-10-05",
		"seen: 2026-10-05, expires: 2027-10-05",
	} {
		_, err := load([]byte("forms: [{directory: d, title: T, portal: p}]\nfields: [{form: d, section: S, label: L, kind: owner, " + text + "}]"))
		if err == nil {
			t.Errorf("accepted: %s", text)
		}
	}
}

// A field of one line is filled in from what is known, and otherwise empty.
func TestValues(t *testing.T) {
	t.Parallel()
	info := parse(t, `{"name": "shop", "title": "The Shop", "version": "1.2.3", "description": "Sells.", "websiteUrl": "https://shop.example",
		"icons": [{"src": "https://shop.example/i.png"}]}`)
	tools := parse(t, `[{"name": "a", "annotations": {"readOnlyHint": true}}, {"name": "b", "annotations": {"readOnlyHint": false}}]`).List()
	public := Facts{URL: "https://shop.example/mcp", Public: true, Transport: "Streamable HTTP"}
	for _, c := range []struct {
		field string
		facts Facts
		want  string
	}{
		{"kind: owner", Facts{}, "- L: _____\n"},
		{"kind: owner, limit: 30, note: one", Facts{}, "- L (at most 30 characters; one): _____\n"},
		{"kind: name, limit: 30", Facts{Info: info}, "`The Shop` (the title of the server; ✓ 8 characters)"},
		{"kind: name, limit: 5", Facts{Info: info}, "✗ 8 characters"},
		{"kind: name", Facts{Info: info.Without("title")}, "`shop` (the name of the server)"},
		{"kind: name", Facts{}, "- L: _____\n"},
		{"kind: description", Facts{Info: info}, "`Sells.`"},
		{"kind: website", Facts{Info: info}, "`https://shop.example`"},
		{"kind: icon", Facts{Info: info}, "`https://shop.example/i.png`"},
		{"kind: icon", Facts{Info: parse(t, `{"icons": [{"src": "data:image/png;base64,AAAA"}]}`)}, "- L: _____ (the server names a picture in place of an address)"},
		{"kind: version", Facts{Info: info}, "`1.2.3`"},
		{"kind: address", public, "- L: `https://shop.example/mcp`\n"},
		{"kind: address", Facts{}, "- L: _____ (the packet was made without an address"},
		{"kind: address", Facts{URL: "http://127.0.0.1:80/mcp"}, "✗ `http://127.0.0.1:80/mcp` is no public HTTPS address"},
		{"kind: transport", public, "- L: `Streamable HTTP`\n"},
		{"kind: transport", Facts{}, "- L: _____\n"},
		{"kind: access", Facts{Tools: tools}, "- L: both (1 tool read only, 1 write)"},
		{"kind: access", Facts{Tools: tools[:1]}, "- L: reads ("},
		{"kind: access", Facts{Tools: tools[1:]}, "- L: writes ("},
		{"kind: access", Facts{Tools: parse(t, `[{"name": "a"}]`).List()}, "_____ (0 tools read only, 0 write, 1 have no readOnlyHint)"},
		{"kind: sign_in", public, "_____ (the tools were listed without credentials)"},
		{"kind: sign_in", Facts{URL: "https://shop.example", Credentials: "a bearer token"}, "_____ (the tools were listed with a bearer token)"},
		{"kind: sign_in", Facts{}, "- L: _____\n"},
		{"kind: offers", Facts{Prompts: []string{"greet"}}, "- Prompts: `greet`\n- Resources: none\n"},
	} {
		if got := fill(c.field, c.facts); !strings.Contains(got, c.want) {
			t.Errorf("%s: want %q in\n%s", c.field, c.want, got)
		}
	}
}

func TestChallenge(t *testing.T) {
	t.Parallel()
	const at = "https://shop.example/x"
	for _, c := range []struct {
		challenge Challenge
		want      string
	}{
		{Challenge{}, "_____ (not requested: without an address there is no `/x`)"},
		{Challenge{URL: at, Status: 200, Body: "abc-123\n"}, "answers `abc-123`: compare it with the token of the portal"},
		{Challenge{URL: at, Status: 200, Body: `{"token": "abc"}`, ContentType: "application/json"}, "✗ answers 200, but not with a token alone (application/json"},
		{Challenge{URL: at, Status: 200, Body: "<html>"}, "✗ answers 200, but not with a token alone (no content type"},
		{Challenge{URL: at, Status: 200, Body: "a b"}, "✗ answers 200, but not"},
		{Challenge{URL: at, Status: 200}, "✗ answers 200, but not"},
		{Challenge{URL: at, Status: 200, Body: "abc", Long: true}, "✗ answers 200, but not"},
		{Challenge{URL: at, Status: 404}, "✗ answers 404: the token that the portal gives is not served yet"},
		{Challenge{URL: at, Status: 401}, "✗ answers 401: the route must be open to everybody"},
		{Challenge{URL: at, Status: 302, Location: "https://login.example"}, "✗ answers 302 and leads to `https://login.example`"},
		{Challenge{URL: at, Status: 500}, "✗ answers 500"},
		{Challenge{URL: at, Err: "connection refused"}, "✗ no answer: connection refused"},
	} {
		got := fill("kind: challenge, path: /x", Facts{URL: at, Public: true, Challenge: c.challenge})
		if !strings.Contains(got, c.want) {
			t.Errorf("%+v: want %q in\n%s", c.challenge, c.want, got)
		}
	}
	got := fill("kind: challenge, path: /x", Facts{URL: "http://localhost", Challenge: Challenge{URL: at, Status: 404}})
	if !strings.Contains(got, "(the directory asks the public host)") {
		t.Errorf("got %s", got)
	}
}

// Reasons are never filled in. A title may stand beside the hints.
func TestTools(t *testing.T) {
	t.Parallel()
	facts := Facts{Tools: parse(t, `[{"name": "get", "title": "Get", "description": "Gets.\nA thing.", "annotations": {"readOnlyHint": true, "openWorldHint": null}}]`).List()}
	got := fill("kind: tools, hints: [title, readOnlyHint, openWorldHint], reasons: [readOnlyHint, openWorldHint]", facts)
	for _, want := range []string{
		"### `get`", "Title: `Get`", "Description: Gets. A thing.", "| title | the title above | not asked for |",
		"| readOnlyHint | `true` | _____ |", "| openWorldHint | ✗ not declared | _____ |", "Left to do: 2 empty places (2 reasons for a hint), 1 value not as the form asks (✗).",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "idempotentHint") {
		t.Errorf("a hint that nobody asks for and that is not declared is shown:\n%s", got)
	}
	if got := fill("kind: tools, either: [readOnlyHint, destructiveHint]", facts); strings.Contains(got, "destructiveHint") || strings.Contains(got, "✗ not") {
		t.Errorf("one hint is enough:\n%s", got)
	}
	got = fill("kind: tools, either: [readOnlyHint, destructiveHint]", Facts{Tools: parse(t, `[{"name": "a", "annotations": {"title": "A"}}]`).List()})
	if strings.Count(got, "✗ not declared |") != 2 || !strings.Contains(got, "| title | `A` |") {
		t.Errorf("got %s", got)
	}
	if got := fill("kind: tools, hints: [readOnlyHint]", facts); strings.Contains(got, "reason") {
		t.Errorf("a reason is asked for:\n%s", got)
	}
}

func TestViews(t *testing.T) {
	t.Parallel()
	views := []apps.Shown{{
		URI: "ui://shop/cart", Tools: []string{"cart"}, Mime: "text/html;profile=mcp-app",
		Meta: parse(t, `{"csp": {"connectDomains": ["https://api.example"], "frameDomains": ["https://maps.example"], "baseUriDomains": []}, "domain": "shop.example"}`),
	}, {URI: "ui://shop/lost", Failure: "not found"}}
	got := fill("kind: views, reasons: [frameDomains]", Facts{Views: views})
	for _, want := range []string{
		"### `ui://shop/cart`", "- Shown by: `cart`", "- connectDomains: `https://api.example`", "- resourceDomains: not declared", "- baseUriDomains: none",
		"- domain: `shop.example`", "- Why the view needs frames of `https://maps.example`, and what they show: _____",
		"- Shown by: no tool", "- ✗ it could not be read: not found",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
	if got := fill("kind: owner, when: views", Facts{}); strings.Contains(got, "- L") {
		t.Errorf("a field for views without one:\n%s", got)
	}
	if got := fill("kind: owner, when: views", Facts{Views: views}); !strings.Contains(got, "- L: _____") {
		t.Errorf("a field for views is missing:\n%s", got)
	}
	if got := fill("kind: views", Facts{}); !strings.Contains(got, "No tool has a view.") {
		t.Errorf("got %s", got)
	}
}

// Tests with a prompt come first, each prompt once, and each tool before a second test of one.
func TestCases(t *testing.T) {
	t.Parallel()
	facts := Facts{Suite: "s.yaml", Cases: []Case{
		{Name: "adds", Tools: []string{"add"}, Call: `add {"a": 1}`, Expected: []string{"text exact 2"}},
		{Name: "adds again", Tools: []string{"add"}, Call: "add {}"},
		{Name: "subtracts", Tools: []string{"sub"}, Call: "sub {}"},
		{Name: "asks", Prompt: "What is 1 + 1?", Tools: []string{"add"}, Call: "add"},
		{Name: "asks on another model", Prompt: "What is 1 + 1?", Tools: []string{"add"}, Call: "add"},
		{Name: "refuses", Negative: true, Tools: []string{"div"}, Call: `div {"b": 0}`, Expected: []string{"result.isError exact true"}},
		{Name: "stays quiet", Negative: true, Prompt: "What is the weather?", Expected: []string{"calls length 0"}},
	}}
	got := fill("kind: positive, count: 5, asks: [data]", facts)
	order := []string{"L 1: asks\n", "- User prompt: `What is 1 + 1?`", "L 2: adds\n", "- User prompt: _____", "- Expected call: `add {\"a\": 1}`", "`text exact 2`", "L 3: subtracts\n", "L 4: adds again\n", "L 5\n", "- Expected call: _____"}
	rest := got
	for _, want := range order {
		at := strings.Index(rest, want)
		if at < 0 {
			t.Fatalf("want %q, in this order, in\n%s", want, got)
		}
		rest = rest[at:]
	}
	got = fill("kind: negative, count: 3, asks: [why]", facts)
	for _, want := range []string{"of which the suite gives 2 (", "L 1: stays quiet", "- Expected call: none", "L 2: refuses", "- Why it is not done: _____", "L 3\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
	got = fill("kind: prompts, count: 3, limit: 10", facts)
	if !strings.Contains(got, "- `What is 1 + 1?` (✗ 14 characters)") || strings.Contains(got, "weather") {
		t.Errorf("got %s", got)
	}
	got = fill("kind: positive, count: 2", Facts{})
	if !strings.Contains(got, "the suite gives 0 (no suite was given: --config SUITE)") || strings.Count(got, "- User prompt: _____") != 2 {
		t.Errorf("got %s", got)
	}
}

// After a year without a look at the form, the fields say so.
func TestExpired(t *testing.T) {
	t.Parallel()
	facts := Facts{Day: time.Date(2027, 10, 6, 0, 0, 0, 0, time.UTC)}
	for _, field := range []string{"kind: owner", "kind: tools", "kind: offers", "kind: positive, count: 1", "kind: prompts, count: 1"} {
		got := fill(field, facts)
		if !strings.Contains(strings.ToLower(got), "not confirmed since 2027-10-05") || !strings.Contains(got, "1 field not confirmed for a year") {
			t.Errorf("%s: got %s", field, got)
		}
	}
	if got := fill("kind: owner", Facts{}); strings.Contains(got, "not confirmed") {
		t.Errorf("got %s", got)
	}
}

// No text of a server or a suite breaks out of its place, and secrets are masked.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	const evil = "x`|\n# owned\n<script>alert(1)</script>\x1b[2J\u202e[a](https://evil.example) @all **b** secret-1 ```"
	name := jsonv.String(evil)
	facts := Facts{
		Target: evil, URL: evil, Transport: evil, Credentials: evil, Suite: evil, Program: evil, Notes: []string{evil},
		Info:    jsonv.ObjectOf("name", name, "title", name, "description", name, "version", name),
		Tools:   []jsonv.Value{jsonv.ObjectOf("name", name, "title", name, "description", name, "annotations", jsonv.ObjectOf("readOnlyHint", name, "title", name))},
		Prompts: []string{evil}, Resources: []string{evil},
		Views:     []apps.Shown{{URI: evil, Tools: []string{evil}, Mime: evil, Failure: evil, Meta: jsonv.ObjectOf("domain", name, "permissions", jsonv.ObjectOf(evil, 1), "csp", jsonv.ObjectOf("frameDomains", jsonv.Array(name), "connectDomains", name))}},
		Challenge: Challenge{URL: evil, Status: 302, Location: evil, Body: evil, ContentType: evil},
		Cases:     []Case{{Name: evil, Prompt: evil, Call: evil, Expected: []string{evil}, Tools: []string{evil}}, {Name: evil, Negative: true, Call: evil}},
		Report:    compat.Report{Findings: []compat.Finding{{Rule: evil, Profile: "security", Tool: evil, Message: evil, Level: compat.LevelError}, {Rule: "chatgpt-apps-hints", Tool: evil}}},
		Mask:      func(s string) string { return strings.ReplaceAll(s, "secret-1", "***") },
		Day:       today,
	}
	forms, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	facts.Rules, _ = compat.Builtin()
	for _, form := range forms {
		var b strings.Builder
		if err := Write(&b, form, facts); err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(b.String(), "\n") {
			outside := withoutCode(line)
			for _, bad := range []string{"# owned", "secret-1", "\x1b", "\u202e"} {
				if strings.HasPrefix(line, "# owned") || bad != "# owned" && strings.Contains(line, bad) {
					t.Errorf("line %d has %q: %q", i+1, bad, line)
				}
			}
			for _, bad := range []string{"<script", "](https://evil", "@all", "**b**"} {
				if strings.Contains(outside, bad) {
					t.Errorf("line %d has %q outside of code: %q", i+1, bad, line)
				}
			}
			if strings.HasPrefix(line, "|") && strings.Contains(line, "x`|") {
				t.Errorf("line %d: a name ends the cell: %q", i+1, line)
			}
		}
	}
}

// withoutCode removes code spans as Markdown reads them: a run of backticks ends at the next
// run of the same length.
func withoutCode(line string) string {
	var b strings.Builder
	for line != "" {
		start := strings.IndexByte(line, '`')
		if start < 0 {
			break
		}
		if start > 0 && line[start-1] == '\\' { // escaped
			b.WriteString(line[:start+1])
			line = line[start+1:]
			continue
		}
		b.WriteString(line[:start])
		line = line[start:]
		n := len(line) - len(strings.TrimLeft(line, "`"))
		fence, rest := line[:n], line[n:]
		end := -1
		for at := 0; at < len(rest); {
			i := strings.IndexByte(rest[at:], '`')
			if i < 0 {
				break
			}
			run := len(rest[at+i:]) - len(strings.TrimLeft(rest[at+i:], "`"))
			if run == n {
				end = at + i
				break
			}
			at += i + run
		}
		if end < 0 {
			b.WriteString(fence)
			line = rest
			continue
		}
		line = rest[end+n:]
	}
	return b.String() + line
}
