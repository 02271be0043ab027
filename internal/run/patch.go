package run

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/jsonv"
	"mcptest/internal/secret"
	"mcptest/internal/source"
)

// patch is what context hooks handed over so far.
type patch struct {
	env, vars jsonv.Value // objects; absent when nothing was handed over
}

// hookAnswer is what one context hook wrote.
type hookAnswer struct {
	patch patch
	skip  string
}

// with returns p with the values of q laid over it.
func (p patch) with(q patch) patch {
	return patch{env: overlay(p.env, q.env), vars: overlay(p.vars, q.vars)}
}

func overlay(a, b jsonv.Value) jsonv.Value {
	if b.IsAbsent() {
		return a
	}
	if a.IsAbsent() {
		a = jsonv.Object()
	}
	for k, v := range b.Members() {
		a = a.With(k, v)
	}
	return a
}

// environ is the patch's environment as NAME=value.
func (p patch) environ() []string {
	var out []string
	for k, v := range p.env.Members() {
		out = append(out, k+"="+scalarText(v))
	}
	return out
}

// secrets keeps values out of all reports: those of variables that are declared
// as secrets, and those whose names say that they are credentials.
func (f *fileRun) secrets(p patch) {
	if f.w.Secret == nil {
		return
	}
	declared := map[string]bool{}
	for _, v := range f.file.Suite.Variables {
		declared[v.Name] = declared[v.Name] || v.Secret
		declared[v.FromEnv] = declared[v.FromEnv] || v.Secret
	}
	var found []string
	var look func(name string, v jsonv.Value, hidden bool)
	look = func(name string, v jsonv.Value, hidden bool) {
		text := scalarText(v)
		switch v.Kind() {
		case jsonv.KindString:
			hidden = hidden || secret.Name(name)
		case jsonv.KindNumber: // MAX_TOKENS is none
			hidden = hidden || secret.CertainName(name)
		default:
			text = ""
		}
		if hidden && text != "" {
			found = append(found, text)
		}
		for name, val := range v.Members() {
			look(name, val, hidden)
		}
		for _, item := range v.Elems() {
			look(name, item, hidden)
		}
	}
	for _, values := range []jsonv.Value{p.env, p.vars} {
		for name, val := range values.Members() {
			look(name, val, declared[name])
		}
	}
	f.w.Secret(found...)
}

// withEnv returns env with further entries, which win.
func withEnv(env []string, more []string) []string {
	if len(more) == 0 {
		return env
	}
	set := map[string]bool{}
	for _, kv := range more {
		name, _, _ := strings.Cut(kv, "=")
		set[name] = true
	}
	var out []string
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); !set[name] {
			out = append(out, kv)
		}
	}
	return append(out, more...)
}

// scalarText is a scalar as an environment holds it.
func scalarText(v jsonv.Value) string {
	if v.Kind() == jsonv.KindString {
		return v.Text()
	}
	return v.String()
}

// patchKeys are all a context hook may answer with.
var patchKeys = []string{"env", "vars", "skip"}

// readPatch reads a context hook's output: nothing, or one JSON object with
// no key but the three.
func readPatch(b []byte) (hookAnswer, error) {
	var a hookAnswer
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return a, nil
	}
	v, notes, err := jsonv.ParseWith(b, jsonv.Options{})
	if err != nil {
		return a, fmt.Errorf("its output is not one JSON object: %w", err)
	}
	if len(notes) > 0 {
		return a, fmt.Errorf("its output is not one JSON object: %s at byte %d (%s)", notes[0].Kind, notes[0].Offset, notes[0].Pointer)
	}
	if v.Kind() != jsonv.KindObject {
		return a, fmt.Errorf("its output is not a JSON object but %s", v.Kind().WithArticle())
	}
	for k, val := range v.Members() {
		if val.Kind() == jsonv.KindNull && slices.Contains(patchKeys, k) {
			continue // every key is optional, and null is how the input says "none"
		}
		switch k {
		case "env":
			err = checkEnv(val)
			a.patch.env = val
		case "vars":
			if val.Kind() != jsonv.KindObject {
				err = fmt.Errorf("vars: want an object, got %s", val.Kind().WithArticle())
			}
			a.patch.vars = val
		case "skip":
			a.skip, err = readSkip(val)
		default:
			hint := cmp.Or(source.DidYouMean(k, patchKeys), "a hook may answer with env, vars and skip only")
			err = fmt.Errorf("its output has the unknown key %q (%s)", k, hint)
		}
		if err != nil {
			return hookAnswer{}, err
		}
	}
	return a, nil
}

func checkEnv(v jsonv.Value) error {
	if v.Kind() != jsonv.KindObject {
		return fmt.Errorf("env: want an object, got %s", v.Kind().WithArticle())
	}
	for name, val := range v.Members() {
		switch val.Kind() {
		case jsonv.KindString, jsonv.KindNumber, jsonv.KindBool:
		default:
			return fmt.Errorf("env.%s: want text, a number or a boolean, got %s", name, val.Kind().WithArticle())
		}
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(scalarText(val), "\x00") {
			return fmt.Errorf("env: %q can't be an environment entry", name)
		}
		if name == "MCPTEST_HOOK_PHASE" || name == "MCPTEST_RUN" {
			return fmt.Errorf("env: %s is set by mcptest for each program and can't be handed over", name)
		}
	}
	return nil
}

func readSkip(v jsonv.Value) (string, error) {
	if v.Kind() != jsonv.KindObject {
		return "", fmt.Errorf("skip: want {\"reason\": …}, got %s", v.Kind().WithArticle())
	}
	for k := range v.Members() {
		if k != "reason" {
			return "", fmt.Errorf("skip: unknown key %q; want {\"reason\": …}", k)
		}
	}
	reason := v.Lookup("reason")
	if reason.Kind() != jsonv.KindString || strings.TrimSpace(reason.Text()) == "" {
		return "", fmt.Errorf("skip: reason must be text that says why")
	}
	return reason.Text(), nil
}
