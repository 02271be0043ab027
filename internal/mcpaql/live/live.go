package live

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
	"mcptest/internal/client/mcp"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/live/probe"
	"mcptest/internal/mcpaql/reference"
)

// NoAdapterError reports that a server could not be tested as an MCP-AQL adapter at
// all.
type NoAdapterError struct {
	Reason string
	Tools  []string // what tools/list named
	Err    error
}

// Error returns the reason in one line.
func (e *NoAdapterError) Error() string {
	s := e.Reason
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if len(e.Tools) > 0 {
		s += " (its tools: " + display.Truncate(strings.Join(e.Tools, ", "), 300) + ")"
	}
	return s
}

// Unwrap returns the cause.
func (e *NoAdapterError) Unwrap() error { return e.Err }

// Collect tests a running adapter and returns the evidence, with x_live filled in. Faults of the
// adapter are evidence. An error means that there was no adapter to test (*NoAdapterError), that
// the options are invalid, or, together with evidence, that the program failed (*BrokenRunError).
// A *cassette.Error means that the recording belongs to another run. If ctx ends early, the
// evidence holds what was seen until then, and what was created has still been removed.
func Collect(ctx context.Context, o guard.Options) (*evidence.Evidence, error) {
	c := guard.New(o)
	e, err := collect(ctx, c)
	if wrong := c.Caller.Tape.Close(); wrong != nil {
		return nil, wrong
	}
	return e, err
}

func collect(ctx context.Context, c *guard.Run) (*evidence.Evidence, error) {
	limited, cancel := mcp.WithLimit(ctx, "--budget", c.Options.Budget)
	defer cancel()
	c.Caller.Ctx = c.Caller.Tape.BindContext(limited)
	if err := dial(c); err != nil {
		return nil, err
	}
	defer func() { c.Caller.Session.Close(context.WithoutCancel(ctx)) }()
	var broken *BrokenRunError
	err := runGuarded(c, discovery{c}.discover)
	if err != nil && !errors.As(err, &broken) {
		return nil, err
	}
	c.Caller.Tape.SetSecrets(c.Caller.Sensitive, c.Options.Values)
	if c.Options.Mode != guard.ModePlan && broken == nil {
		err = runGuarded(c, func() error { probe.RunAll(c); return nil })
	}
	bundle{c}.finish()
	return c.Evidence, err
}

// dial opens the session of a run.
func dial(c *guard.Run) error {
	s, err := c.Caller.Tape.Dial(c.Caller.Ctx, "")
	switch {
	case err != nil:
		return &NoAdapterError{Reason: "the adapter cannot be reached", Err: err}
	case s == nil:
		return errors.New("no session was opened")
	}
	c.Caller.Session = s
	return nil
}

// BrokenRunError reports that this program failed in the middle of a run. The
// evidence returned with it holds what was seen until then.
type BrokenRunError struct {
	Value any    // the value of the panic
	Stack string // the stack of the panic
}

// Error states that the failure is not the adapter's fault.
func (e *BrokenRunError) Error() string {
	return fmt.Sprintf("the run was ended by an error in this program, not in the adapter: %v", e.Value)
}

// runGuarded runs a part of a run and turns a panic into a *BrokenRunError, after which
// nothing more is sent.
func runGuarded(c *guard.Run, part func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &BrokenRunError{Value: v, Stack: string(debug.Stack())}
			c.Caller.Dead = err.Error()
		}
	}()
	return part()
}

// open starts a run and reads the tools and the introspection.
func open(ctx context.Context, o guard.Options) (*guard.Run, func(), error) {
	c := guard.New(o)
	var cancel context.CancelFunc
	c.Caller.Ctx, cancel = mcp.WithLimit(ctx, "--budget", c.Options.Budget)
	if err := dial(c); err != nil {
		cancel()
		return nil, nil, err
	}
	end := func() {
		c.Caller.Session.Close(context.WithoutCancel(ctx))
		cancel()
	}
	if err := (discovery{c}).discover(); err != nil {
		end()
		return nil, nil, err
	}
	return c, end, nil
}

// Plan lists the calls that Collect would make in the mode of o. It requests only the
// tools and the introspection of the adapter. The template is an object for
// LiveOptions.Values, with null for every required parameter that no value was found
// for.
func Plan(ctx context.Context, o guard.Options) (plan []OperationPlan, template jsonv.Value, err error) {
	mode := o.Mode
	o.Mode = guard.ModePlan
	c, end, err := open(ctx, o)
	if err != nil {
		return nil, jsonv.Value{}, err
	}
	defer end()
	plan, template = bundle{c}.planOf(mode)
	return plan, template, nil
}

// CallOnce calls one tool with the given arguments and returns the envelope, or the
// response that came instead of one. It is used to reproduce a finding.
func CallOnce(ctx context.Context, o guard.Options, tool string, args jsonv.Value) (jsonv.Value, time.Duration, error) {
	c := guard.New(o)
	c.Caller.Ctx = ctx
	if err := dial(c); err != nil {
		return jsonv.Value{}, 0, err
	}
	defer func() { c.Caller.Session.Close(context.WithoutCancel(ctx)) }()
	c.Caller.Ungated = true
	c.Caller.Restarts = 1 // a call that kills the adapter is not repeated
	begin := time.Now()
	r := c.Caller.SendNow(ctx, guard.Reply{Tool: tool, Args: args})
	return r.Response(), time.Since(begin), nil
}

// Left lists what a run created and has not verifiably removed.
type Left struct {
	RunID string
	IDs   []guard.JournalEntry // with Created
}

// Cleaned is the result of a clean-up.
type Cleaned struct {
	Removed []string // "delete_book book_4"
	Failed  []string // with the reason
}

// Clean removes what earlier runs left behind: items that carry their marker in one
// of their texts, found through the adapter's list operations, and items that their
// journals name. Nothing else is touched.
func Clean(ctx context.Context, o guard.Options, left []Left) (Cleaned, error) {
	o.Mode = guard.ModeWrite
	c, end, err := open(ctx, o)
	if err != nil {
		return Cleaned{}, err
	}
	defer end()
	c.Caller.Cleaning = true
	runs := lists.Map(left, func(l Left) string { return l.RunID })
	var out Cleaned
	for _, create := range c.Catalog.Operations {
		remove := c.Gate.FindRemover(create)
		if create.Category != "CREATE" || create.Verb != "create" || remove == nil {
			continue
		}
		x := cleaning{run: c, create: create, remove: remove, out: &out}
		for _, t := range c.Lister.FindMarked(create, runs) {
			x.drop(t)
		}
		for _, l := range left {
			x.dropNamed(l, runs)
		}
	}
	return out, nil
}

// cleaning removes what earlier runs created with one operation.
type cleaning struct {
	run            *guard.Run
	create, remove *catalog.Operation
	seen           []guard.CreatedThing
	out            *Cleaned
}

// drop removes an item, once.
func (x *cleaning) drop(t guard.CreatedThing) {
	if slices.ContainsFunc(x.seen, t.Equal) {
		return
	}
	x.seen = append(x.seen, t)
	ledger := x.run.Ledger
	before := len(ledger.Leftovers)
	ledger.Add(x.create.Resource, t)
	x.run.Cleaner.RemoveOne(x.run.Caller.Ctx, x.create, x.remove, t)
	if len(ledger.Leftovers) > before {
		x.out.Failed = append(x.out.Failed, x.formatThing(t)+": "+ledger.Leftovers[before].Lookup("reason").Text())
	} else {
		x.out.Removed = append(x.out.Removed, x.formatThing(t))
	}
}

func (x *cleaning) formatThing(t guard.CreatedThing) string {
	return strings.TrimSpace(x.remove.Name + " " + reference.FormatText(t.ID))
}

// dropNamed removes the items that the journal of a run names, if they carry the mark of one
// of the runs.
func (x *cleaning) dropNamed(l Left, runs []string) {
	for _, id := range l.IDs {
		t := guard.CreatedThing{ID: id.ID, With: id.With}
		if id.Created != x.create.Name || id.ID.IsAbsent() || slices.ContainsFunc(x.seen, t.Equal) {
			continue
		}
		ours, gone := x.run.Lister.DetermineFate(x.create, t, runs)
		switch {
		case ours:
			x.drop(t)
		case !gone:
			x.out.Failed = append(x.out.Failed, x.formatThing(t)+": it does not carry the mark of a run, so it is left alone")
		}
	}
}

// UnknownNameError reports that an option names an operation or a field that the
// adapter does not have. No operation was called, because a rule with an unknown name
// would protect nothing.
type UnknownNameError struct {
	Option, Name string
	Near         string // the name that was probably meant; usually ""
}

// Error names the option and the name.
func (e *UnknownNameError) Error() string {
	return fmt.Sprintf("%s: the adapter lists no operation for %q%s", e.Option, e.Name, source.Parenthesis(source.Suggest(e.Near)))
}

// checkNames compares the names in the options with those that the adapter lists. An
// unknown name is an error, and a notice in the values of the user.
func (dy discovery) checkNames() error {
	if len(dy.run.Catalog.Operations) == 0 || len(dy.run.Caller.Short) > 0 {
		return nil
	}
	all := lists.Map(dy.run.Catalog.Operations, func(op *catalog.Operation) string { return op.Name })
	matches := func(glob string) bool {
		return slices.ContainsFunc(all, func(name string) bool { return catalog.MatchesAny(name, []string{glob}) })
	}
	for i, globs := range [][]string{dy.run.Options.Deny, dy.run.Options.Allow} {
		for _, glob := range globs {
			if !matches(glob) {
				return &UnknownNameError{[]string{"--deny-op", "--allow-op"}[i], glob, source.Nearest(glob, all)}
			}
		}
	}
	for _, rule := range dy.run.Options.AppendOnly {
		if name, _, _ := strings.Cut(rule, ":"); dy.run.Catalog.FindOperation(name) == nil {
			return &UnknownNameError{"--append-only", name, source.Nearest(name, all)}
		}
	}
	dy.checkValues(all)
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
			mistake(params, "/"+op, "expected an object {parameter: value} for %s, this is %s", evidence.QuoteStart(op, 60), evidence.Describe(params))
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
func (dy discovery) checkValues(names []string) {
	for name, params := range dy.run.Options.Values.Members() {
		op := dy.run.Catalog.FindOperation(name)
		switch {
		case name == "*":
			for param, v := range params.Members() {
				dy.checkEverywhere(param, v)
			}
			continue
		case op == nil:
			dy.report(params, (&UnknownNameError{"--values", name, source.Nearest(name, names)}).Error(), "")
			continue
		}
		for param, v := range params.Members() {
			if op.Detail.IsAbsent() {
				continue
			}
			if p := op.FindParam(param); p != nil {
				dy.checkValue(op, *p, v)
				continue
			}
			known := lists.Map(op.Params, func(p catalog.Parameter) string { return p.Name })
			dy.report(v, fmt.Sprintf("--values: %s documents no parameter %s", name, evidence.QuoteStart(param, 60)), source.DidYouMean(param, known))
		}
	}
}

// checkEverywhere checks a value for every operation against the first operation that
// has the parameter.
func (dy discovery) checkEverywhere(param string, v jsonv.Value) {
	for _, op := range dy.run.Catalog.Operations {
		p := op.FindParam(param)
		if p != nil && dy.run.Options.Values.Lookup(op.Name, param).IsAbsent() && !dy.checkValue(op, *p, v) {
			return
		}
	}
}

// checkValue reports whether a value conforms to the documentation of its parameter.
func (dy discovery) checkValue(op *catalog.Operation, p catalog.Parameter, v jsonv.Value) bool {
	want := dy.run.Catalog.Fits(p, v)
	if want == "" {
		return true
	}
	dy.report(v, fmt.Sprintf("--values: %s of %s must be %s, this is %s", evidence.QuoteStart(p.Name, 60), op.Name, want, evidence.Describe(v)),
		"it is sent as it is, and calls with it may fail for that reason")
	return false
}

// report records a notice about a value.
func (dy discovery) report(v jsonv.Value, says, hint string) {
	dy.run.Notices = append(dy.run.Notices, says)
	if dy.run.Options.Warn == nil {
		return
	}
	pos := source.Pos{File: dy.run.Options.ValuesFile}
	if dy.run.Options.ValuesFile != nil && v.Offset() >= 0 {
		pos = dy.run.Options.ValuesFile.At(v.Offset())
	}
	d := source.Warnf(pos, "", "%s", says)
	d.Hint = hint
	dy.run.Options.Warn(d)
}
