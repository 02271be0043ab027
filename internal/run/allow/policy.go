package allow

import (
	"fmt"
	"slices"
	"sync"

	"mcptest/internal/base/jsonv"
)

// Policy knows the tools that the user has named, and the calls that were made. It is
// safe for concurrent use.
type Policy struct {
	Named []string // exact names

	mu   sync.Mutex
	made map[string]bool // calls of named tools that declare destructiveHint: true
	all  map[string]int
}

// ReadOnly reports whether the definition of a tool promises that it changes nothing. One
// that declares to be destructive as well promises nothing.
func ReadOnly(tool jsonv.Value) bool {
	return tool.Lookup("annotations", "readOnlyHint").Bool() && !Destructive(tool)
}

// Destructive reports whether a tool declares that it destroys something.
func Destructive(tool jsonv.Value) bool {
	return tool.Lookup("annotations", "destructiveHint").Bool()
}

// Allows returns "" if the tool may be called, and otherwise why not and what would allow it.
func (p *Policy) Allows(tool jsonv.Value) string {
	name := tool.Lookup("name").Text()
	if ReadOnly(tool) || slices.Contains(p.Named, name) {
		return ""
	}
	return fmt.Sprintf("tool %s %s; --allow-writes %s allows to call it", name, FindObjection(tool), name)
}

// FindObjection says what a tool that is not read-only declares, or does not.
func FindObjection(tool jsonv.Value) string {
	readOnly := tool.Lookup("annotations", "readOnlyHint").Bool()
	switch {
	case readOnly && Destructive(tool):
		return "declares destructiveHint: true together with readOnlyHint: true"
	case Destructive(tool):
		return "declares destructiveHint: true"
	}
	return "does not declare readOnlyHint: true"
}

// Repeats is Allows for a tool that is to be called many times, so that it must not
// declare destructiveHint: true.
func (p *Policy) Repeats(tool jsonv.Value) string {
	if Destructive(tool) {
		return fmt.Sprintf("tool %s declares destructiveHint: true, so it is not called many times", tool.Lookup("name").Text())
	}
	return p.Allows(tool)
}

// Permits returns "" if a call may be made now, and otherwise why not. A named tool that
// declares destructiveHint: true is called once with equal arguments.
func (p *Policy) Permits(tool, args jsonv.Value) string {
	if why := p.Allows(tool); why != "" {
		return why
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.explainRefusal(tool, args)
}

// explainRefusal returns why a call of a tool that is allowed must not be made again. The caller
// holds the lock.
func (p *Policy) explainRefusal(tool, args jsonv.Value) string {
	if !p.made[makeKey(tool, args)] {
		return ""
	}
	return fmt.Sprintf("tool %s declares destructiveHint: true, so it is called once with equal arguments", tool.Lookup("name").Text())
}

func makeKey(tool, args jsonv.Value) string {
	return tool.Lookup("name").Text() + " " + string(args.Append(nil))
}

// Call is Permits for a call that is made, and counts it.
func (p *Policy) Call(tool, args jsonv.Value) string {
	if why := p.Allows(tool); why != "" {
		return why
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if why := p.explainRefusal(tool, args); why != "" {
		return why
	}
	if p.made == nil {
		p.made, p.all = map[string]bool{}, map[string]int{}
	}
	if Destructive(tool) {
		p.made[makeKey(tool, args)] = true
	}
	p.all[tool.Lookup("name").Text()]++
	return ""
}

// Calls returns the number of permitted calls of each tool.
func (p *Policy) Calls() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]int{}
	for name, n := range p.all {
		out[name] = n
	}
	return out
}
