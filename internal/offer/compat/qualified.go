package compat

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// typicalName is the length of a usual name of a server. Names that are shorter are
// worth a warning if only they keep a tool.
const typicalName = 16

// addQualified applies a rule on names with the server's name in front. Users choose
// that name: while it is unknown, only what no name could prevent is an error.
func (r *Report) addQualified(ctx context.Context, rule *Rule, p Profile, l List, today time.Time) error {
	switch {
	case p.Qualified == "":
		return nil
	case l.Installed != "" && !regexp.MustCompile(p.Installs).MatchString(l.Installed):
		note := fmt.Sprintf("%s refuses to install a server as %q (allowed: %s), so limits on prefixed names were not checked for it", p.Name, l.Installed, p.Installs)
		if !slices.Contains(r.Notes, note) {
			r.Notes = append(r.Notes, note)
		}
		return nil
	case l.Installed != "":
		hits, err := rule.apply(ctx, l, p, map[string][]place{})
		r.places = append(r.places, rule.describePlaces(hits, l, today)...)
		return err
	}
	lost := map[string]bool{} // tools that are lost with a name of this length
	for length := typicalName; length > 0 && (len(lost) > 0 || length == typicalName); length-- {
		l.Installed = strings.Repeat("x", length)
		hits, err := rule.apply(ctx, l, p, map[string][]place{})
		if err != nil {
			return err
		}
		still := map[string]bool{}
		for _, at := range hits {
			still[at.tool] = true
		}
		for _, tool := range slices.Sorted(maps.Keys(lost)) {
			if !still[tool] {
				r.places = append(r.places, rule.warnOnlyUnder(length, tool, l, today))
			}
		}
		lost = still
		if length == 1 {
			findings := rule.describePlaces(hits, l, today)
			for i := range findings {
				findings[i].Message = "with any name of the server: " + findings[i].Message
			}
			r.places = append(r.places, findings...)
		}
	}
	return nil
}

// warnOnlyUnder returns the warning that a tool is accepted only under a name of the
// server that is at most so long.
func (r *Rule) warnOnlyUnder(length int, tool string, l List, today time.Time) Finding {
	warning := *r
	if r.Level == LevelError {
		warning.Level = LevelWarning
	}
	warning.Message = fmt.Sprintf("accepted only if users install the server under a name of at most %d characters", length)
	warning.Fix = "shorten the tool's name, or recommend such a name; --name or installed_as checks a name"
	return warning.describePlaces([]place{{tool: tool, pointer: "/name"}}, l, today)[0]
}
