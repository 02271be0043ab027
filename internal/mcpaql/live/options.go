package live

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/guard"
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
	hint := source.Parenthesis(source.Suggest(e.Near))
	return fmt.Sprintf("%s: the adapter lists no operation for %q%s", e.Option, e.Name, hint)
}

// optionCheck compares the options of the user with what the adapter lists.
type optionCheck struct{ run *guard.Run }

// checkNames compares the names in the options with those that the adapter lists. An
// unknown name is an error, and a notice in the values of the user.
func (ck optionCheck) checkNames() error {
	if len(ck.run.Catalog.Operations) == 0 || len(ck.run.Caller.Short) > 0 {
		return nil
	}
	all := lists.Map(ck.run.Catalog.Operations, func(op *catalog.Operation) string { return op.Name })
	matches := func(glob string) bool {
		return slices.ContainsFunc(all, func(name string) bool { return catalog.MatchesAny(name, []string{glob}) })
	}
	for i, globs := range [][]string{ck.run.Options.Deny, ck.run.Options.Allow} {
		for _, glob := range globs {
			if !matches(glob) {
				return &UnknownNameError{[]string{"--deny-op", "--allow-op"}[i], glob, source.FindNearest(glob, all)}
			}
		}
	}
	for _, rule := range ck.run.Options.AppendOnly {
		if name, _, _ := strings.Cut(rule, ":"); ck.run.Catalog.FindOperation(name) == nil {
			return &UnknownNameError{"--append-only", name, source.FindNearest(name, all)}
		}
	}
	ck.checkValues(all)
	return nil
}

// ReadValues reads a file for [Options.Values]. Every mistake is an error diagnostic
// with its position. The returned file is the one that the offsets of the value refer
// to.
func ReadValues(f *source.File) (jsonv.Value, *source.File, source.Diagnostics) {
	r := evidence.NewReader(f)
	root, notes, ok := r.Parse()
	if !ok {
		return root, r.File, r.Problems
	}
	const hint = `write {"create_invoice": {"customer": "c-17"}, "*": {"tenant": "sandbox"}}`
	mistake := func(v jsonv.Value, at, format string, args ...any) {
		d := source.Errorf(r.Pos(v), at, format, args...)
		d.Hint = hint
		r.Problems.Add(d)
	}
	if root.Kind() != jsonv.KindObject {
		mistake(root, "", "expected an object {operation: {parameter: value}}, this is %s", evidence.Describe(root))
		return root, r.File, r.Problems
	}
	for op, params := range root.Members() {
		if params.Kind() != jsonv.KindObject {
			mistake(params, "/"+op, "expected an object {parameter: value} for %s, this is %s",
				evidence.QuoteStart(op, 60), evidence.Describe(params))
		}
	}
	for _, n := range notes {
		if n.Kind == jsonv.DuplicateKey {
			d := source.Errorf(r.Places.At(n.Offset), n.Pointer, "duplicate key: only the last one would count")
			d.Hint = "remove one of them"
			r.Problems.Add(d)
		}
	}
	r.Problems.Sort()
	return root, r.File, r.Problems
}

// checkValues compares the user's values with the documentation of the operations. A
// mismatch never ends the run: the documentation may be wrong, and the value may be
// there for that reason.
func (ck optionCheck) checkValues(names []string) {
	for name, params := range ck.run.Options.Values.Members() {
		op := ck.run.Catalog.FindOperation(name)
		switch {
		case name == "*":
			for param, v := range params.Members() {
				ck.checkEverywhere(param, v)
			}
			continue
		case op == nil:
			ck.report(params, (&UnknownNameError{"--values", name, source.FindNearest(name, names)}).Error(), "")
			continue
		}
		for param, v := range params.Members() {
			if op.Detail.IsAbsent() {
				continue
			}
			if p := op.FindParam(param); p != nil {
				ck.checkValue(op, *p, v)
				continue
			}
			known := lists.Map(op.Params, func(p catalog.Parameter) string { return p.Name })
			says := fmt.Sprintf("--values: %s documents no parameter %s", name, evidence.QuoteStart(param, 60))
			ck.report(v, says, source.DidYouMean(param, known))
		}
	}
}

// checkEverywhere checks a value for every operation against the first operation that
// has the parameter.
func (ck optionCheck) checkEverywhere(param string, v jsonv.Value) {
	for _, op := range ck.run.Catalog.Operations {
		p := op.FindParam(param)
		if p != nil && ck.run.Options.Values.Lookup(op.Name, param).IsAbsent() && !ck.checkValue(op, *p, v) {
			return
		}
	}
}

// checkValue reports whether a value conforms to the documentation of its parameter.
func (ck optionCheck) checkValue(op *catalog.Operation, p catalog.Parameter, v jsonv.Value) bool {
	want := ck.run.Catalog.Fits(p, v)
	if want == "" {
		return true
	}
	says := fmt.Sprintf("--values: %s of %s must be %s, this is %s",
		evidence.QuoteStart(p.Name, 60), op.Name, want, evidence.Describe(v))
	ck.report(v, says, "it is sent as it is, and calls with it may fail for that reason")
	return false
}

// report records a notice about a value.
func (ck optionCheck) report(v jsonv.Value, says, hint string) {
	ck.run.Notices = append(ck.run.Notices, says)
	if ck.run.Options.Warn == nil {
		return
	}
	pos := source.Pos{File: ck.run.Options.ValuesFile}
	if ck.run.Options.ValuesFile != nil && v.Offset() >= 0 {
		pos = ck.run.Options.ValuesFile.At(v.Offset())
	}
	d := source.Warnf(pos, "", "%s", says)
	d.Hint = hint
	ck.run.Options.Warn(d)
}
