package model

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"mcptest/internal/base/jsonv"
)

// failure is before the text of a failed call, in the form of OpenAI.
const failure = "error: "

// WithResults returns the body of a request, of either form, with other texts of what
// tools returned.
func WithResults(body jsonv.Value, change func(text string) string) jsonv.Value {
	var each func(string, jsonv.Value) (string, jsonv.Value)
	each = func(_ string, m jsonv.Value) (string, jsonv.Value) {
		content := m.Lookup("content")
		if m.Lookup("role").Text() == "tool" || m.Lookup("type").Text() == "tool_result" {
			text, failed := strings.CutPrefix(content.Text(), failure)
			text = change(text)
			if failed {
				text = failure + text
			}
			return "", m.With("content", jsonv.String(text))
		}
		return "", m.With("content", content.Map(each))
	}
	return body.With("messages", body.Lookup("messages").Map(each))
}

// Difference says how a request differs from the recorded one that is most like it: it
// names the first part that changed. It is "" if none did.
func Difference(sent jsonv.Value, recorded []jsonv.Value) (first string) {
	now, best := parts(sent), math.MinInt
	for _, r := range recorded {
		was, why := parts(r), ""
		score := min(now.Len()-was.Len(), was.Len()-now.Len())
		for name, v := range now.Members() {
			if before := was.Lookup(name); jsonv.Equal(before, v) {
				score += 2
			} else if why == "" {
				why = name + " changed" + change(jsonv.Diff(before, v)[0])
			}
		}
		if score > best {
			best, first = score, why
		}
	}
	return first
}

// change shows a difference; of long texts from shortly before it.
func change(c jsonv.Change) string {
	const most, before = 60, 20
	w, g, same := c.Want.Text(), c.Got.Text(), 0
	for same < min(len(w), len(g)) && w[same] == g[same] {
		same++
	}
	shown := func(v jsonv.Value) string {
		if same > before {
			v = jsonv.String("…" + strings.ToValidUTF8(v.Text()[same-before:], ""))
		}
		return v.Short(most)
	}
	return fmt.Sprintf("%s: %s, recorded: %s", strings.TrimSuffix(" at "+c.Path, " at "), shown(c.Got), shown(c.Want))
}

// parts returns the parts of a body of either form, under the names that people know
// them by, in an order in which a change of one explains those behind it.
func parts(body jsonv.Value) jsonv.Value {
	out := jsonv.ObjectOf("the model settings", body.Without("system").Without("tools").Without("messages"), "the system prompt", body.Lookup("system").OrNull())
	var names []jsonv.Value
	for _, t := range body.Lookup("tools").Elems() {
		t = cmp.Or(t.Lookup("function"), t)
		names = append(names, t.Lookup("name"))
		out = out.With("the definition of the tool "+t.Lookup("name").Text(), t)
	}
	out = out.With("the list of tools", jsonv.Array(names...))
	answers, results := 0, 0
	for _, m := range body.Lookup("messages").Elems() {
		content := m.Lookup("content")
		switch m.Lookup("role").Text() {
		case "system":
			out = out.With("the system prompt", content)
		case "assistant":
			answers++
			out = out.With(fmt.Sprintf("answer %d of the model", answers), m)
		default:
			blocks := content.List()
			if content.Kind() != jsonv.KindArray {
				blocks = []jsonv.Value{m}
			}
			for _, b := range blocks {
				name := "the prompt"
				if b.Lookup("role").Text() == "tool" || b.Lookup("type").Text() == "tool_result" {
					results++
					name = fmt.Sprintf("the result of call %d", results)
				}
				out = out.With(name, cmp.Or(b.Lookup("content"), b.Lookup("text"), b))
			}
		}
	}
	return out
}
