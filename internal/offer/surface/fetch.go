package surface

import (
	"context"
	"errors"
	"fmt"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/skill"
)

// Request sends a request of a session and returns its result.
type Request func(ctx context.Context, method string, params jsonv.Value) (jsonv.Value, error)

// Limits define how much of a list is read.
type Limits struct{ Items, Pages int }

// Offer is a server's responses to the requests for all its lists.
type Offer struct {
	Handshake jsonv.Value // the result of initialize or server/discover
	Lists     map[Kind][]jsonv.Value
	Pages     []jsonv.Value  // the results of tools/list
	Failed    map[Kind]error // lists that the server did not return, or that can't be read
}

// MissingError reports the list of a declared capability that the server does not implement.
type MissingError struct {
	list    List
	refused *protocol.RPCError
}

// Error returns the message.
func (e *MissingError) Error() string {
	return fmt.Sprintf("%s: %v, although the server declares the capability %s", e.list.Method, e.refused, e.list.Capability)
}

// Unwrap returns the response of the server.
func (e *MissingError) Unwrap() error { return e.refused }

// IsMissing reports whether a server does not implement a list that it declares, and that
// it can do without: one without tools/list has nothing to compare.
func (o *Offer) IsMissing(kind Kind) bool {
	return kind != Tool && errors.As(o.Failed[kind], new(*MissingError))
}

// Err returns the error of the first list that could not be read. Lists that the server
// does not implement are none: [Offer.WarnOfMissing] says that they count as empty.
func (o *Offer) Err() error {
	for _, l := range listKnown() {
		if err := o.Failed[l.Kind]; err != nil && !o.IsMissing(l.Kind) {
			return err
		}
	}
	return nil
}

// WarnOfMissing says which lists count as empty because the server does not implement them.
func (o *Offer) WarnOfMissing() (warnings []string) {
	for _, l := range Lists() {
		if o.IsMissing(l.Kind) {
			warnings = append(warnings, o.Failed[l.Kind].Error()+": counted as an empty list")
		}
	}
	return warnings
}

// ListError reports a list that can't be read to its end.
type ListError struct{ msg string }

// Error returns the message.
func (e *ListError) Error() string { return e.msg }

// Fetch requests all pages of every list whose capability the server declares. A list
// that the server refuses, or that is malformed, is in Failed; any other error ends
// Fetch.
func Fetch(ctx context.Context, handshake jsonv.Value, limits Limits, request Request) (*Offer, error) {
	o := &Offer{Handshake: handshake, Lists: map[Kind][]jsonv.Value{}, Failed: map[Kind]error{}}
	caps := handshake.Lookup("capabilities")
	for _, l := range Lists() {
		if caps.Kind() == jsonv.KindObject && caps.Lookup(l.Capability).IsAbsent() {
			continue
		}
		if err := o.fetchList(ctx, l, limits, request); err != nil {
			return nil, err
		}
	}
	return o, o.fetchSkills(ctx, limits, request)
}

// fetchList requests all pages of one list.
func (o *Offer) fetchList(ctx context.Context, l List, limits Limits, request Request) error {
	ask := func(ctx context.Context, method string, params jsonv.Value) (jsonv.Value, error) {
		res, err := request(ctx, method, params)
		if l.Kind == Tool {
			o.Pages = append(o.Pages, res)
		}
		return res, err
	}
	items, err := Pages(ctx, l.Method, l.Member, limits, ask)
	refused, ok := errors.AsType[*protocol.RPCError](err)
	switch {
	case err == nil:
		o.Lists[l.Kind] = items
	case ok && refused.Code == protocol.CodeMethodNotFound && l.Kind == Template:
		// The capability resources does not promise templates.
	case ok && refused.Code == protocol.CodeMethodNotFound && o.declares(l):
		o.Failed[l.Kind] = &MissingError{list: l, refused: refused}
	case ok && refused.Code == protocol.CodeMethodNotFound && l.Kind != Tool:
		// Nothing says that the server has this list.
	case refused != nil || errors.As(err, new(*ListError)):
		o.Failed[l.Kind] = fmt.Errorf("%s: %w", l.Method, err)
	default:
		return err
	}
	return nil
}

// declares reports whether the server declares the capability of a list of MCP.
func (o *Offer) declares(l List) bool {
	return l.Kind != Skill && !o.Handshake.Lookup("capabilities", l.Capability).IsAbsent()
}

// servesSkills reports whether a server declares skills, in a revision that has them.
func servesSkills(handshake jsonv.Value) bool {
	isSession := !handshake.Lookup("protocolVersion").IsAbsent()
	return !isSession && !handshake.Lookup("capabilities", "extensions", skill.Extension).IsAbsent()
}

// fetchSkills requests the skills of a server. A server without any has an empty list.
func (o *Offer) fetchSkills(ctx context.Context, limits Limits, request Request) error {
	o.Lists[Skill] = nil
	if !servesSkills(o.Handshake) {
		return nil
	}
	l := listKnown()[len(Lists())]
	caps := jsonv.ObjectOf("extensions", jsonv.ObjectOf(skill.Extension, jsonv.Object()))
	meta := jsonv.ObjectOf(protocol.MetaCapabilities, caps) // who asks for skills supports them
	ask := func(ctx context.Context, method string, params jsonv.Value) (jsonv.Value, error) {
		return request(ctx, method, params.With("_meta", meta))
	}
	return o.fetchList(ctx, l, limits, ask)
}

// Pages requests all pages of a list; key is its member in the results.
func Pages(ctx context.Context, method, member string, limits Limits, request Request) ([]jsonv.Value, error) {
	var out []jsonv.Value
	seen := map[string]bool{}
	var params jsonv.Value
	tooLong := func(more string) error {
		return &ListError{fmt.Sprintf("the list is too long: %d items%s (limits: --max-list-items %d, --max-list-pages %d)", len(out), more, limits.Items, limits.Pages)}
	}
	for range limits.Pages {
		res, err := request(ctx, method, params)
		if err != nil {
			return nil, err
		}
		page, ok := res.Get(member)
		if !ok || page.Kind() != jsonv.KindArray {
			return nil, &ListError{fmt.Sprintf("the result has no list %s (it is %s)", member, page.Kind())}
		}
		out = append(out, page.List()...)
		cursor := res.Lookup("nextCursor")
		more := cursor.Kind() == jsonv.KindString
		switch {
		case len(out) > limits.Items:
			return nil, tooLong("")
		case !more:
			return out, nil
		}
		if seen[cursor.Text()] {
			return nil, &ListError{fmt.Sprintf("the server returned the cursor %s twice, so the list would never end", cursor.Short(80))}
		}
		if len(out) == limits.Items {
			break
		}
		seen[cursor.Text()] = true
		params = jsonv.ObjectOf("cursor", cursor)
	}
	return nil, tooLong(" and more to come")
}

// Value returns the offer as one JSON value: the lists by their member in MCP, and
// the handshake as server. A list without capability is empty; one of skills is left out if it
// is empty, and null if it could not be read.
func (o *Offer) Value() jsonv.Value {
	out := lists.Map(Lists(), func(l List) jsonv.Member {
		return jsonv.Member{Key: l.Member, Value: jsonv.Array(o.Lists[l.Kind]...)}
	})
	if skills := o.Lists[Skill]; len(skills) > 0 {
		out = append(out, jsonv.Member{Key: "skills", Value: jsonv.Array(skills...)})
	} else if o.Failed[Skill] != nil {
		out = append(out, jsonv.Member{Key: "skills", Value: jsonv.Null()})
	}
	return jsonv.Object(append(out, jsonv.Member{Key: "server", Value: o.Handshake})...)
}
