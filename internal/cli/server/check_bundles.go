package server

import (
	"fmt"

	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/compat"
	"mcptest/internal/process/bundle"
	"mcptest/internal/run/inspect"
)

// examinesNothing reports whether only rules about bundles were chosen, and there is none.
func (f *checkFlags) examinesNothing(lists []compat.List) bool {
	if !f.choosesOnly(compat.GroupBundles) {
		return false
	}
	for _, l := range lists {
		if l.Bundle != nil {
			return false
		}
	}
	return true
}

// choosesOnly reports whether --only names a group of rules, and no other one.
func (f *checkFlags) choosesOnly(group string) bool {
	for _, g := range f.groups {
		if g != group {
			return false
		}
	}
	return len(f.groups) > 0
}

// readBundle reads a bundle and starts nothing.
func (f *checkFlags) readBundle(s cmdutil.Streams, file string) ([]compat.List, error) {
	b, ds := bundle.Open(file, file)
	if errs, _ := option.PrintDiagnostics(s, f.target.Color, ds); errs > 0 {
		return nil, &option.ExitError{Code: option.ExitInvalid}
	}
	if err := b.Verify(); err != nil {
		return nil, option.Invalid("%s: %v", file, err)
	}
	return []compat.List{{Server: b.Manifest.Name, File: file, Bundle: &compat.Bundle{Bundle: b}}}, nil
}

// describeBundle returns the bundle of a server that was started, with what it wrote before its first
// message; nil if it is in none.
func (f *checkFlags) describeBundle(l *option.Viewer) *compat.Bundle {
	p := l.Server.Bundle
	if p == nil {
		return nil
	}
	return &compat.Bundle{Bundle: p.Bundle, Given: p.Given, Stray: f.stray}
}

// hearStray keeps the first line that is no message.
func (f *checkFlags) hearStray(o *inspect.Options) {
	report := o.Violations
	o.Violations = func(list []protocol.Violation) {
		for _, v := range list {
			if f.stray == "" && (v.Kind == protocol.StrayOutput || v.Kind == protocol.BadJSON) {
				f.stray = fmt.Sprintf("%q", v.Excerpt)
			}
		}
		if report != nil {
			report(list)
		}
	}
}
