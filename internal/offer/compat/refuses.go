package compat

import (
	"context"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/handshake"
)

// Refuses returns why the parser of an SDK refuses a result of tools/list, "" if it takes it.
func (r Rules) Refuses(reader handshake.Reader, page jsonv.Value) string {
	name, version, _ := cutLast(string(reader), " ")
	profile := "ts-sdk"
	if name == "Go SDK" {
		profile = "go-sdk"
	}
	about := Rules{Profiles: r.Profiles}
	for _, rule := range r.Rules {
		versions, _, _ := strings.Cut(rule.Versions, ";")
		if rule.Profile == profile && rule.Effect == SessionLost && strings.Contains(versions, version) {
			about.Rules = append(about.Rules, rule)
		}
	}
	list := List{Server: "server", Installed: "server", Tools: page.Lookup("tools").List(), Pages: []jsonv.Value{page}}
	rep, err := Check(context.Background(), []List{list}, about, time.Time{})
	if err != nil || len(rep.Findings) == 0 {
		return ""
	}
	f := rep.Findings[0]
	return strings.TrimPrefix(f.describePlace()+": ", ": ") + f.Message
}

// cutLast divides a text at the last separator.
func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}
