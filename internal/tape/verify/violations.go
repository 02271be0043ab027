package verify

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/diff"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/inspect"
	"mcptest/internal/tape/cassette"
)

// Violation is a violation of the protocol by a server.
type Violation struct {
	protocol.Violation
	call *cassette.Call // during which it was noticed; nil: none
}

// Line returns the line of the cassette in which the violation is: that of the response to the
// request during which it was noticed, or else of the request; 0 if it belongs to none.
func (v Violation) Line() int {
	switch {
	case v.call == nil:
		return 0
	case v.call.Response != nil:
		return v.call.Response.Line
	case v.call.Request != nil:
		return v.call.Request.Line
	}
	return 0
}

// isSame reports whether two servers commit the same violation: in response to the same
// request, if it belongs to one.
func (v Violation) isSame(other Violation) bool {
	if v.Kind != other.Kind || (v.ID == "") != (other.ID == "") {
		return false
	}
	if v.ID == "" || v.call == other.call {
		return true
	}
	if v.call == nil || other.call == nil {
		return false
	}
	return v.call.Method == other.call.Method && v.call.Name == other.call.Name
}

// compareViolations compares the violations with those of the recorded server.
func (r *Report) compareViolations(recorded []Violation) (out []diff.Change) {
	lack := func(list []Violation) func(Violation) bool {
		left := slices.Clone(list) // each is compared with one
		return func(v Violation) bool {
			i := slices.IndexFunc(left, v.isSame)
			if i >= 0 {
				left = slices.Delete(left, i, i+1)
			}
			return i < 0
		}
	}
	for _, text := range listTexts(r.Violations, lack(recorded)) {
		out = append(out, diff.Change{Class: diff.Breaking, Kind: surface.Server, Message: "protocol violation: " + text})
	}
	for _, text := range listTexts(recorded, lack(r.Violations)) {
		out = append(out, diff.Change{Class: diff.Safe, Kind: surface.Server, Message: "the recorded protocol violation no longer occurs: " + text})
	}
	new := lack(recorded)
	for _, text := range listTexts(r.Violations, func(v Violation) bool { return !new(v) }) {
		r.Notes = append(r.Notes, "protocol violation, as recorded: "+text)
	}
	return out
}

// listTexts returns one text for each kind of the selected violations.
func listTexts(list []Violation, selected func(Violation) bool) (out []string) {
	var chosen []Violation
	for _, v := range list {
		if selected(v) {
			chosen = append(chosen, v)
		}
	}
	list = chosen
	for len(list) > 0 {
		first := list[0]
		rest := slices.DeleteFunc(slices.Clone(list), func(v Violation) bool { return v.Kind == first.Kind })
		text := inspect.FormatViolation(first.Violation)
		if first.ID != "" && first.call != nil {
			text = strings.TrimSpace(first.call.Method+" "+first.call.Name) + ": " + text
		}
		if n := len(list) - len(rest) - 1; n > 0 {
			text += fmt.Sprintf(" (and %d more)", n)
		}
		out, list = append(out, text), rest
	}
	return out
}
