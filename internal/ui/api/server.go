package api

import (
	"context"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/offer/compat"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/allow"
	"mcptest/internal/ui/live"
)

// The requests of the tab Server.

type ofServer struct {
	Server int `json:"server"`
}

func (a *API) viewServer(v live.View) jsonv.Value {
	what := "HTTP"
	if v.Def.Argv != nil {
		what = "stdio"
	}
	layers := jsonv.List(v.Layers, func(l live.Layer) jsonv.Value {
		details := jsonv.List(l.Details, jsonv.String)
		return jsonv.ObjectOf(
			"name", l.Name, "state", l.State, "message", l.Message, "details", details, "hint", l.Hint,
		)
	})
	return jsonv.ObjectOf(
		"id", v.ID, "name", v.Def.Name, "transport", what, "status", string(v.Status), "version", v.Version,
		"reason", jsonv.List(v.Reason, jsonv.String), "unreadable", v.Unread, "layers", layers, "who", v.Who,
		"spoken", jsonv.List(v.Spoken, jsonv.String), "offers", v.Offers,
		"checked", v.Checked,
		"changed", v.Offer != nil && v.Offer.Changed, "listed", v.Offer != nil, "call", v.Call,
		"file", a.o.Keeper.FileOf(v.Def),
	)
}

type connectTo struct {
	Server   int    `json:"server"`
	Protocol string `json:"protocol"`
}

func (a *API) connect(_ context.Context, in connectTo) (jsonv.Value, error) {
	return done, a.o.Hub.Connect(in.Server, in.Protocol)
}

func (a *API) disconnect(_ context.Context, in ofServer) (jsonv.Value, error) {
	return done, a.o.Hub.Disconnect(in.Server)
}

func (a *API) refresh(_ context.Context, in ofServer) (jsonv.Value, error) {
	return done, a.o.Hub.Refresh(in.Server)
}

// lists are the lists of an offer in the order of the page, with the member that names an
// item.
var lists = []struct {
	kind surface.Kind
	key  string
}{
	{surface.Tool, "name"},
	{surface.Resource, "uri"},
	{surface.Template, "uriTemplate"},
	{surface.Prompt, "name"},
}

// offer returns what a server lists, without the long parts of the definitions.
func (a *API) offer(_ context.Context, in ofServer) (jsonv.Value, error) {
	s, err := a.o.Hub.Server(in.Server)
	if err != nil {
		return jsonv.Value{}, err
	}
	v := s.View()
	out := jsonv.ObjectOf("version", v.Offers)
	if v.Offer == nil {
		return out, nil
	}
	failed := jsonv.Object()
	for _, l := range lists {
		view := func(def jsonv.Value) jsonv.Value { return viewItem(v.Offer, l.kind, l.key, def) }
		items := jsonv.List(v.Offer.Lists[l.kind], view)
		out = out.With(string(l.kind), items)
		if why := v.Offer.Failed[l.kind]; why != "" {
			failed = failed.With(string(l.kind), jsonv.String(why))
		}
	}
	return out.With("failed", failed), nil
}

// longest bounds a text in a list, in bytes.
const longest = 4 << 10

func viewItem(o *live.Offer, kind surface.Kind, key string, def jsonv.Value) jsonv.Value {
	cut := func(member string) string {
		text := def.Lookup(member).Text()
		return text[:min(len(text), longest)]
	}
	findings := o.Findings[kind.Noun()+" "+def.Lookup(key).Text()]
	return jsonv.ObjectOf(
		"name", cut(key), "title", textOrAbsent(cut("title")), "description", textOrAbsent(cut("description")),
		"tokens", surface.Tokens(def), "readOnly", allow.ReadOnly(def), "findings", len(findings),
	)
}

type ofItem struct {
	Server  int    `json:"server"`
	Version int    `json:"version"` // of the offer
	List    string `json:"list"`
	Item    int    `json:"item"`
}

// find returns a definition by its place in a list.
func (a *API) find(in ofItem) (v live.View, def jsonv.Value, key string, err error) {
	s, err := a.o.Hub.Server(in.Server)
	if err != nil {
		return v, def, "", err
	}
	v = s.View()
	for _, l := range lists {
		if string(l.kind) != in.List || v.Offer == nil {
			continue
		}
		if in.Version != v.Offers || in.Item < 0 || in.Item >= len(v.Offer.Lists[l.kind]) {
			return v, def, "", &live.RefusedError{Reason: "the lists have been read again: choose the item again"}
		}
		return v, v.Offer.Lists[l.kind][in.Item], l.key, nil
	}
	return v, def, "", &live.RefusedError{Reason: "the server lists no such item now"}
}

// showDefinition returns all of one definition.
func (a *API) showDefinition(_ context.Context, in ofItem) (jsonv.Value, error) {
	v, def, key, err := a.find(in)
	if err != nil {
		return jsonv.Value{}, err
	}
	kind := surface.Kind(in.List)
	found := v.Offer.Findings[kind.Noun()+" "+def.Lookup(key).Text()]
	sample := jsonv.Object()
	if kind == surface.Tool {
		sample = jsonschema.Arguments(def.Lookup("inputSchema"))
	}
	return jsonv.ObjectOf(
		"definition", def, "text", a.indent(def), "sample", sample, "findings", viewFindings(found),
		"objection", textOrAbsent(findObjection(kind, def)), "tokens", surface.Tokens(def),
	), nil
}

func findObjection(kind surface.Kind, def jsonv.Value) string {
	if kind != surface.Tool || allow.ReadOnly(def) {
		return ""
	}
	return "tool " + def.Lookup("name").Text() + " " + allow.FindObjection(def)
}

func viewFindings(list []compat.Finding) jsonv.Value {
	return jsonv.List(list, func(f compat.Finding) jsonv.Value {
		return jsonv.ObjectOf(
			"rule", f.Rule, "profile", f.Profile, "level", string(f.Level), "message", f.Message, "fix", f.Fix,
		)
	})
}
