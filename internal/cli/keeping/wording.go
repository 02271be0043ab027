package keeping

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/draft"
)

// wording writes texts of a request into a suite: placeholders are escaped, and secrets are
// replaced by placeholders for the variables that hold them.
type wording struct {
	redactors []*secret.Redactor
	variables []variable
	notes     []string
	lost      string // why a text cannot be written
}

// variable holds a secret.
type variable struct{ name, value string }

// newWording reads the secrets of a suite and of the environment.
func newWording(to target, session *secret.Redactor, env []string) *wording {
	w := &wording{redactors: []*secret.Redactor{to.redactor}}
	if session != nil {
		w.redactors = append(w.redactors, session)
	}
	for _, v := range to.suite.Variables {
		if v.Value != nil && v.Value.IsScalar() && v.Value.Kind == source.KindString {
			w.add(v.Name, v.Value.Text, v.Secret)
		}
	}
	for _, v := range to.suite.DotEnv {
		w.add(v.Name, v.Value, false)
	}
	inEnviron := secret.FindInEnviron(env)
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		w.add(name, value, slices.Contains(inEnviron, value))
	}
	// The longest first: none is replaced in the middle of another.
	slices.SortStableFunc(w.variables, func(a, b variable) int { return len(b.value) - len(a.value) })
	return w
}

// add adds a variable if its value is a secret.
func (w *wording) add(name, value string, isSecret bool) {
	if name != "" && value != "" && (isSecret || w.mask(value) != value) {
		w.variables = append(w.variables, variable{name, value})
	}
}

// mask hides secrets, and the marks of secrets that were hidden before.
func (w *wording) mask(text string) string {
	for _, r := range w.redactors {
		text = r.String(text)
	}
	return strings.ReplaceAll(text, secret.Mask, "(a secret)")
}

// replaceText converts one text of the request.
func (w *wording) replaceText(s string) string {
	for _, v := range w.variables {
		if s == v.value {
			w.note(v.name)
			return "${" + v.name + "}"
		}
	}
	out := w.replaceInside(s, w.variables)
	if w.mask(out) != out {
		w.lost = "the request contains a secret that is not the value of a variable: declare it in the suite, as in variables: {TOKEN: {from_env: TOKEN, secret: true}}"
	}
	return out
}

// replaceInside replaces the secrets in a longer text and escapes the rest.
func (w *wording) replaceInside(s string, variables []variable) string {
	if len(variables) == 0 {
		return draft.EscapePlaceholders(s)
	}
	v := variables[0]
	if len(v.value) < secret.MinLength || !strings.Contains(s, v.value) {
		return w.replaceInside(s, variables[1:])
	}
	w.note(v.name)
	var parts []string
	for _, part := range strings.Split(s, v.value) {
		parts = append(parts, w.replaceInside(part, variables[1:]))
	}
	return strings.Join(parts, "${"+v.name+"}")
}

func (w *wording) note(name string) {
	note := fmt.Sprintf("the value of %s is a secret: the test has the placeholder ${%s}", name, name)
	if !slices.Contains(w.notes, note) {
		w.notes = append(w.notes, note)
	}
}
