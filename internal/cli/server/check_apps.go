package server

import (
	"cmp"
	"context"

	"mcptest/internal/cli/option"
	"mcptest/internal/offer/apps"
	"mcptest/internal/offer/compat"
	"mcptest/internal/run/inspect"
)

const (
	noAppsNote = "no tool has a view, and no resource is one: there are no MCP Apps to judge"
	storedNote = "MCP Apps were judged by the list only: to have the views read, check the server"
)

// makeListing returns what the client of an open connection was shown.
func makeListing(c *inspect.Conn, list compat.List) apps.Listing {
	return apps.Listing{
		Revision:     c.Session().Protocol(),
		Declared:     c.ShowsViews(),
		Tools:        list.Tools,
		Resources:    list.Resources,
		Capabilities: list.Handshake.Lookup("capabilities"),
	}
}

// judgeApps judges the MCP Apps of a server, with further sessions after that of the viewer.
func (f *checkFlags) judgeApps(ctx context.Context, l *option.Viewer, list compat.List, shown apps.Listing) {
	l.Conn.ReportRemaining()
	l.Conn.Close()
	read, notes := l.Conn.ReadApps(ctx, shown)
	l.Status.Clear()
	found, unjudged := apps.Judge(read)
	notes = append(notes, unjudged...)
	if f.onlyApps() && !read.HasApps() && len(notes) == 0 {
		notes = []string{noAppsNote}
	}
	for i := range notes {
		notes[i] = l.Redactor.String(notes[i])
	}
	f.packet.keepViews(read, notes)
	f.addApps(list, found, notes)
}

// judgeStored judges the MCP Apps of stored lists, as far as they go.
func (f *checkFlags) judgeStored(lists []compat.List, rules compat.Rules) {
	if len(rules.Apps) == 0 {
		return
	}
	for _, list := range lists {
		read := apps.Server{Listings: []apps.Listing{{
			Tools:        list.Tools,
			Resources:    list.Resources,
			Capabilities: list.Handshake.Lookup("capabilities"),
		}}}
		found, notes := apps.Judge(read)
		f.packet.keepViews(read, nil)
		switch {
		case read.HasApps():
			notes = append(notes, storedNote)
		case f.onlyApps():
			notes = append(notes, noAppsNote)
		}
		f.addApps(list, found, notes)
	}
}

// addApps adds the findings about the server of a list, under the name that reports show.
func (f *checkFlags) addApps(list compat.List, found []apps.Finding, notes []string) {
	one := compat.Apps{
		Server:   cmp.Or(f.name, list.Server),
		Line:     list.Line,
		Lines:    list.Lines,
		Findings: found,
		Notes:    notes,
		Mask:     list.Mask,
	}
	if list.File != "" {
		one.File = option.Shown(list.File)
	}
	f.apps = append(f.apps, one)
}

// onlyApps reports whether nothing but MCP Apps was chosen.
func (f *checkFlags) onlyApps() bool {
	return len(f.groups) == 1 && f.groups[0] == compat.GroupApps
}
