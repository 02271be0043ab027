package suite

import (
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite/interpolate"
)

// commandKeys are the keys of the words of a program, wherever they are in a suite.
var commandKeys = []string{"command", "run", "exec", "args", "beforeAll", "beforeEach", "afterEach", "afterAll"}

// addProgramSecrets records the secrets that the suite gives to programs: to servers, hooks, steps,
// matchers, tests of a program's start, and what else has an environment or a command.
func (l *loader) addProgramSecrets() {
	p := secret.NewProgram()
	for _, d := range l.docs {
		expand := func(n *source.Node) *source.Node {
			if !strings.Contains(n.Text, "$") {
				return n
			}
			return d.scope.Expand(n, "", interpolate.Bindings{}, new(source.Decoder))
		}
		collect(p, d.root, expand)
	}
	for _, sv := range l.suite.Servers { // also of variants that a program made
		for _, e := range sv.Env.Entries {
			p.AddVariable(e.Key, string(e.Value))
		}
		var words []string
		if sv.Command != nil {
			words = expandCommand(sv.Command, func(n *source.Node) *source.Node { return n })
		}
		p.AddWords(append(words, sv.Args...))
		if sv.File != nil {
			l.suite.Secrets = append(l.suite.Secrets, listBundleSecrets(sv.Command, filepath.Dir(sv.File.Path))...)
		}
	}
	l.suite.Secrets = append(l.suite.Secrets, p.Secrets()...)
}

// collect adds the secrets in a node to p.
func collect(p *secret.Program, n *source.Node, expand func(*source.Node) *source.Node) {
	if n == nil {
		return
	}
	for _, f := range n.Fields {
		switch {
		case f.Key.Text == "env" && f.Value.Kind == source.KindMap:
			for _, v := range f.Value.Fields {
				if v.Value.IsScalar() {
					p.AddVariable(v.Key.Text, expand(v.Value).Text)
				}
			}
			continue
		case slices.Contains(commandKeys, f.Key.Text) && f.Value.Kind != source.KindMap:
			p.AddWords(expandCommand(f.Value, expand))
		case f.Value.IsScalar() && f.Value.Kind == source.KindString:
			p.Text(f.Key.Text + ": " + expand(f.Value).Text)
		}
		collect(p, f.Value, expand)
	}
	for _, item := range n.Items {
		collect(p, item, expand)
	}
}

// expandCommand returns the words of a command. Text is split at blanks: package plan, which splits
// it exactly, comes later.
func expandCommand(n *source.Node, expand func(*source.Node) *source.Node) (words []string) {
	if n.Kind == source.KindList {
		for _, item := range n.Items {
			if item.IsScalar() {
				words = append(words, expand(item).Text)
			}
		}
	} else if n.IsScalar() {
		words = append(words, expand(n).Text)
	}
	for _, word := range words {
		for piece := range strings.FieldsSeq(word) {
			words = append(words, strings.Trim(piece, `'"`))
		}
	}
	return words
}
