package suite

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/base/placeholder"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite/interpolate"
)

// variableDecl is one entry of `variables:`: a scalar, or a map that names an
// environment variable.
type variableDecl struct {
	Pos   source.Pos
	Node  *source.Node
	Value *source.Node
	From  *fromEnv

	key   source.Pos
	state resolveState
}

type resolveState uint8

const (
	unresolved resolveState = iota
	resolving
	resolvedVariable
)

type fromEnv struct {
	// The environment variable to read.
	FromEnv string `yaml:"from_env,required" example:"API_TOKEN" schema:"minLength: 1"`
	// The value when it is not set.
	Default *source.Node `yaml:"default"`
	// Mask the value in every output.
	Secret bool `yaml:"secret" default:"false" example:"true"`
}

// DecodeNode reads a scalar or {from_env, default, secret}.
func (v *variableDecl) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	v.Pos, v.Node = n.Pos, n
	switch n.Kind {
	case source.KindMap:
		v.From = new(fromEnv)
		d.Decode(n, path, v.From)
		if k := n.Get("from_env"); k != nil && k.Kind == source.KindString && k.Text == "" {
			d.Errorf(k, path+".from_env", "the name of the environment variable is empty")
		}
		if def := v.From.Default; def != nil && !def.IsScalar() {
			d.ReportWrongType(def, path+".default", "a scalar")
		}
	case source.KindList:
		d.Errorf(n, path, "expected a scalar or {from_env, default, secret}, got a list")
	default:
		v.Value = n
	}
}

// Variable is one resolved variable.
type Variable struct {
	Name   string
	Value  *source.Node
	Secret bool
	// FromEnv is the environment variable that provides the value, or "".
	FromEnv string
}

// reservedNames have a special meaning in ${…}.
var reservedNames = []string{"CONFIG_DIR", "case", "steps"}

// declare records the variables of a document and reports duplicate names.
func (l *loader) declare(d *loadedDoc) {
	n := d.root.Get("variables")
	if n == nil || n.Kind != source.KindMap {
		return // decode reports it
	}
	for _, f := range n.Fields {
		name := f.Key.Text
		path := source.PathKey("variables", name)
		if old, ok := l.decls[name]; ok {
			l.reportDeclaredTwice("variable", name, path, f.Key.Pos, old.key)
			continue
		}
		if !interpolate.IsName(name) || strings.Contains(name, ".") {
			l.dec.ErrorAt(f.Key.Pos, path, fmt.Sprintf("%q can't be a variable's name", name),
				"use letters, digits, - and _, beginning with a letter or _")
			continue
		}
		if slices.Contains(reservedNames, name) {
			l.dec.ErrorAt(f.Key.Pos, path, fmt.Sprintf("%q can't be a variable's name: ${%s…} has another meaning", name, name), "")
			continue
		}
		v := &variableDecl{key: f.Key.Pos}
		// The decoder of the whole document reports this entry's mistakes.
		v.DecodeNode(f.Value, path, new(source.Decoder))
		l.decls[name] = v
	}
}

// resolveVariables computes the values of `${name}`. The text of a variable may use
// other variables, the environment and CONFIG_DIR.
func (l *loader) resolveVariables() {
	for _, name := range slices.Sorted(maps.Keys(l.decls)) {
		l.findVariable(name)
	}
	for _, name := range slices.Sorted(maps.Keys(l.decls)) {
		if v := l.vars[name]; v != nil {
			decl := Variable{Name: name, Value: v}
			if from := l.decls[name].From; from != nil {
				decl.Secret, decl.FromEnv = from.Secret, from.FromEnv
			}
			l.suite.Variables = append(l.suite.Variables, decl)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.opts.Vars)) {
		if _, ok := l.decls[name]; !ok {
			l.findVariable(name)
		}
	}
}

// findVariable returns the value of a variable. The first call resolves it.
func (l *loader) findVariable(name string) (*source.Node, bool) {
	v, declared := l.decls[name]
	if !declared {
		if _, known := l.vars[name]; !known && l.docs != nil {
			l.addUndeclared(name)
		}
		value, ok := l.vars[name]
		return value, ok
	}
	switch v.state {
	case resolvedVariable:
		return l.vars[name], true
	case resolving:
		l.dec.ErrorAt(v.key, source.PathKey("variables", name), fmt.Sprintf("the variable %q needs its own value", name), "")
		return nil, true
	}
	v.state = resolving
	value, from := l.expandVariable(name, v)
	v.state = resolvedVariable
	l.vars[name] = value
	if value == nil {
		return nil, true
	}
	if v.From != nil && v.From.Secret {
		l.addSecret(value.Text, v.Pos, source.PathKey("variables", name))
	} else {
		l.addCredential(name, value.Text)
		l.addCredential(from, value.Text)
	}
	return value, true
}

// addUndeclared adds a variable that no file declares: one of --var, or random.KEY.
func (l *loader) addUndeclared(name string) {
	text, given := l.opts.Vars[name]
	if key, random := strings.CutPrefix(name, "random."); random && key != "" {
		if !given {
			text = l.listRecordings()[key]
			if text == "" {
				text = l.opts.Random.Make(key)
			}
		}
		l.suite.Random[key], given = text, true
	}
	if given {
		l.vars[name] = flagValue(text)
		l.suite.Variables = append(l.suite.Variables, Variable{Name: name, Value: l.vars[name]})
		l.addCredential(name, text)
	}
}

// listRecordings returns the values of ${random.KEY} in the recordings of the suite.
func (l *loader) listRecordings() map[string]string {
	if l.recorded == nil {
		l.recorded = map[string]string{} // for the paths of the recordings
		files, root := map[string]string{}, l.docs[0]
		mapFields(root.root.Get("upstreams"), func(f source.Field) *source.Node {
			if n := f.Value.Get("recording"); n != nil {
				files[f.Key.Text] = root.scope.Expand(n, "", interpolate.Bindings{}, new(source.Decoder)).Text
			}
			return f.Value
		})
		l.recorded = l.opts.Random.Recorded(l.suite.Dir, files)
	}
	return l.recorded
}

// expandVariable returns the value of a declared variable, or nil if it has none; from is
// the environment variable that provides it. Values from outside the file are not
// expanded.
func (l *loader) expandVariable(name string, v *variableDecl) (value *source.Node, from string) {
	path := source.PathKey("variables", name)
	if text, ok := l.opts.Vars[name]; ok {
		value = flagValue(text)
		value.Pos = v.Pos
		return value, ""
	}
	value = v.Value
	if v.From != nil {
		if v.From.FromEnv == "" {
			return nil, "" // reported by the decoder
		}
		if text, ok := l.env.Get(v.From.FromEnv); ok {
			return interpolate.Placed(v.Node, text), v.From.FromEnv
		}
		if value = v.From.Default; value == nil {
			l.dec.ErrorAt(v.Pos, path, "the environment variable "+v.From.FromEnv+" is not set, and there is no default", "set it, or add default:")
			return nil, ""
		}
		path += ".default"
	}
	if value == nil || !value.IsScalar() {
		return nil, ""
	}
	scope := &interpolate.Scope{Variable: l.findVariable, Env: l.env.Get, Names: l.listNames}
	if v.Pos.File != nil {
		scope.Dir = filepath.Dir(v.Pos.File.Path)
	}
	return scope.Expand(value, path, interpolate.Bindings{}, l.dec), ""
}

// addCredential records a value as a secret if its name suggests that it is one.
func (l *loader) addCredential(name, value string) {
	if name != "" && len(value) >= secret.MinLength && secret.Name(name) {
		l.suite.Secrets = append(l.suite.Secrets, value)
	}
}

func (l *loader) addSecret(value string, pos source.Pos, path string) {
	if value == "" {
		return
	}
	l.suite.Secrets = append(l.suite.Secrets, value)
	if len(value) < secret.MinLength {
		l.dec.Add(source.Diagnostic{
			Pos: pos, Path: path, Severity: source.Warning, Code: "short-secret",
			Msg: fmt.Sprintf("a secret with fewer than %d characters is masked only where it is the whole value, not inside other text", secret.MinLength),
		})
	}
}

// flagValue parses the value of --var: a YAML number, boolean or null, or text.
func flagValue(text string) *source.Node {
	n, diags := source.Parse(&source.File{Name: "--var", Data: []byte(text)})
	if n == nil || len(diags) > 0 || !n.IsScalar() {
		return &source.Node{Kind: source.KindString, Text: text, Quoted: true}
	}
	out := *n
	out.Pos = source.Pos{}
	return &out
}

// markUsedNames records the names that the suite's placeholders use, and the values of
// credentials among them as secrets.
func (l *loader) markUsedNames() {
	used := map[string]bool{}
	for _, d := range l.docs {
		interpolate.Scan(d.root, func(_ *source.Node, p placeholder.Part) { used[p.Name] = true })
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if strings.HasPrefix(name, "random.") {
			l.findVariable(name) // tests are expanded later, by several goroutines
		}
		if text, ok := l.env.Get(name); ok {
			l.addCredential(name, text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.opts.Vars)) {
		if _, declared := l.decls[name]; !declared && !used[name] {
			l.suite.UnusedVars = append(l.suite.UnusedVars, name)
		}
	}
	l.suite.VarNames = slices.Sorted(maps.Keys(l.decls))
}

// listNames returns the names that ${…} can use.
func (l *loader) listNames() []string {
	out := slices.AppendSeq(slices.AppendSeq(l.env.Names(), maps.Keys(l.decls)), maps.Keys(l.opts.Vars))
	slices.Sort(out)
	return append(slices.Compact(out), "CONFIG_DIR")
}
