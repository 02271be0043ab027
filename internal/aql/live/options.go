package live

import (
	"fmt"
	"strings"

	"mcptest/internal/aql/live/catalog"
	"mcptest/internal/source"
)

// UnknownNameError reports that an option names an operation or a field that the
// adapter does not have. No operation was called, because a rule with an unknown name
// would protect nothing.
type UnknownNameError struct {
	Option, Name string
	Near         string // the name that was probably meant; usually ""
}

// Error names the option and the name.
func (e *UnknownNameError) Error() string {
	return fmt.Sprintf("%s: the adapter lists no operation for %q%s", e.Option, e.Name, source.Aside(source.Suggest(e.Near)))
}

// checkNames compares the names in the options with those that the adapter lists. An
// unknown name is an error in an option that forbids something, and a notice in any
// other.
func (dy discovery) checkNames() error {
	if len(dy.run.Catalog.Operations) == 0 || len(dy.run.Caller.Short) > 0 {
		return nil
	}
	var all []string
	for _, op := range dy.run.Catalog.Operations {
		all = append(all, op.Name)
	}
	matches := func(glob string) bool {
		for _, name := range all {
			if catalog.MatchesAny(name, []string{glob}) {
				return true
			}
		}
		return false
	}
	for _, glob := range dy.run.Options.Deny {
		if !matches(glob) {
			return &UnknownNameError{"--deny-op", glob, source.Nearest(glob, all)}
		}
	}
	for _, rule := range dy.run.Options.AppendOnly {
		name, _, _ := strings.Cut(rule, ":")
		if dy.run.Catalog.Op(name) == nil {
			return &UnknownNameError{"--append-only", name, source.Nearest(name, all)}
		}
	}
	for _, glob := range dy.run.Options.Allow {
		if !matches(glob) {
			dy.run.Notices = append(dy.run.Notices, (&UnknownNameError{"--allow-op", glob, source.Nearest(glob, all)}).Error())
		}
	}
	dy.checkValues(all)
	return nil
}
