package apps

import (
	"slices"

	"mcptest/internal/base/jsonv"
)

// Extension is the name under which a client declares that it shows views.
const Extension = "io.modelcontextprotocol/ui"

// MediaType is the type of a view.
const MediaType = "text/html;profile=mcp-app"

// newSettings are what a client declares under the extension.
func newSettings() jsonv.Value {
	return jsonv.ObjectOf("mimeTypes", jsonv.Array(jsonv.String(MediaType)))
}

// Declaring returns the capabilities of a client with the extension, or without it.
func Declaring(capabilities jsonv.Value, declared bool) jsonv.Value {
	extensions := capabilities.Lookup("extensions")
	known := ShowsViews(capabilities)
	switch {
	case declared && !known:
		if capabilities.IsAbsent() {
			capabilities = jsonv.Object()
		}
		if extensions.Kind() != jsonv.KindObject {
			extensions = jsonv.Object()
		}
		return capabilities.With("extensions", extensions.With(Extension, newSettings()))
	case !declared && known:
		return capabilities.With("extensions", extensions.Without(Extension))
	}
	return capabilities
}

// ShowsViews reports whether a client with some capabilities shows views.
func ShowsViews(capabilities jsonv.Value) bool {
	return !capabilities.Lookup("extensions", Extension).IsAbsent()
}

// A Server is what was read from one server.
type Server struct {
	Listings []Listing
	Reads    []Read
	Address  string // under which everybody reaches it; "" for stdio, loopback or unknown
}

// A Listing is what one client was shown in one revision.
type Listing struct {
	Revision     string
	Declared     bool // the client declared the extension
	Tools        []jsonv.Value
	Resources    []jsonv.Value
	Capabilities jsonv.Value // of the server; absent: unknown
}

// A Read is the answer to resources/read of a view, for a client that declared the extension.
type Read struct {
	Revision string
	URI      string
	Result   jsonv.Value
	Failure  string // the error that came in place of a result
	Unknown  string // why the answer says nothing about the view, such as "HTTP 503"
}

// Views are the URIs that a client reads in a revision: those of tools, then listed ones.
func (s Server) Views(revision string) (uris []string) {
	var listed []string
	for _, l := range s.Listings {
		if l.Revision != revision {
			continue
		}
		for _, tool := range l.Tools {
			if view := readView(tool); view.isText && hasViewScheme(view.uri) {
				uris = append(uris, view.uri)
			}
		}
		for _, resource := range l.Resources {
			if uri := resource.Lookup("uri").Text(); hasViewScheme(uri) {
				listed = append(listed, uri)
			}
		}
	}
	return dropRepeats(append(uris, listed...))
}

// HasApps reports whether a tool has a view, or anything says that it is one.
func (s Server) HasApps() bool {
	return slices.ContainsFunc(s.Listings, func(l Listing) bool {
		return slices.ContainsFunc(l.Tools, mentionsViews) || slices.ContainsFunc(l.Resources, isView)
	})
}

// mentionsViews reports whether a tool says anything about views.
func mentionsViews(tool jsonv.Value) bool {
	meta := tool.Lookup("_meta")
	for _, key := range []string{"ui", flatKey, openaiKey} {
		if !meta.Lookup(key).IsAbsent() {
			return true
		}
	}
	return false
}

// isView reports whether a listed resource is a view.
func isView(resource jsonv.Value) bool { return hasViewScheme(resource.Lookup("uri").Text()) }

// findDeclared returns what a client with the extension was shown in a revision.
func (s Server) findDeclared(revision string) (Listing, bool) {
	return s.findListing(func(l Listing) bool { return l.Declared && l.Revision == revision })
}

// findUndeclared is like findDeclared for a client without the extension.
func (s Server) findUndeclared(revision string) (Listing, bool) {
	return s.findListing(func(l Listing) bool { return !l.Declared && l.Revision == revision })
}

func (s Server) findListing(matches func(Listing) bool) (Listing, bool) {
	for _, l := range s.Listings {
		if matches(l) {
			return l, true
		}
	}
	return Listing{}, false
}

// listRevisions are those in which lists were read, in their order.
func (s Server) listRevisions() (names []string) {
	for _, l := range s.Listings {
		names = append(names, l.Revision)
	}
	return dropRepeats(names)
}

// listWidest is what a client sees that declares the extension, in each revision; without such a
// list, what another one sees.
func (s Server) listWidest() (out []Listing) {
	for _, revision := range s.listRevisions() {
		l, ok := s.findDeclared(revision)
		if !ok {
			l, _ = s.findUndeclared(revision)
		}
		out = append(out, l)
	}
	return out
}
