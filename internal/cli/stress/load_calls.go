package stress

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/run/inspect"
	"mcptest/internal/run/load"
	"mcptest/internal/spec/plan"
)

// buildCases returns the tests that -k selects; none with --tool.
func (f *loadFlags) buildCases(s cmdutil.Streams, argv []string) ([]*plan.Case, error) {
	if f.tool != "" {
		return nil, nil
	}
	paths, err := f.Paths(nil)
	if err != nil {
		return nil, err
	}
	suites, diags, err := f.Load(paths, s)
	if err != nil {
		return nil, err
	}
	set := f.Settings(s)
	set.Filters = f.filters
	if f.Server != "" {
		set.Servers = []string{f.Server}
	}
	p, more := plan.Compile(suites, set)
	f.AddSecrets(suites)
	if diags = append(diags, more...); diags.HasErrors() || f.URL != "" || len(argv) > 0 { // else begin prints the warnings
		if errs, _ := f.Print(s, diags); errs > 0 {
			return nil, option.Invalid("%s in %s; nothing was sent", display.Count(errs, "error"), strings.Join(paths, ", "))
		}
	}
	for _, file := range p.Files {
		if len(file.BeforeAll)+len(file.Setup)+len(file.Teardown)+len(file.AfterAll) > 0 {
			fmt.Fprintf(s.Err, "mcptest: warning: %s: hooks and fixtures are not run by load\n", file.Path)
		}
	}
	var out []*plan.Case
	for i := range p.Len() {
		c := p.Case(i)
		if c.Skip != "" {
			continue
		}
		if why := load.ExplainUnfit(c); why != "" {
			return nil, option.Invalid("%s: the test %q cannot be sent many times: %s; -k selects others", c.Pos, c.Name, why)
		}
		if out = append(out, c); c.Server != out[0].Server {
			return nil, option.Invalid("the tests %q and %q are of the servers %s and %s: load sends to one, --server or -k selects it", out[0].Name, c.Name, out[0].Server.Name, c.Server.Name)
		}
	}
	switch {
	case len(out) == 0:
		return nil, option.Invalid("no test of %s is selected that is not skipped", strings.Join(paths, ", "))
	case f.URL == "" && len(argv) == 0:
		f.Server = out[0].Server.Name
	}
	return out, nil
}

// prepare opens the first session and fills the calls, if they may be made.
func (f *loadFlags) prepare(ctx context.Context, r *running, cases []*plan.Case) error {
	if err := r.Conn.Open(ctx); err != nil {
		return r.Failed(ctx, "", err)
	}
	if f.tool != "" {
		tool, err := f.findTool(ctx, r.Viewer)
		if err != nil {
			return err
		}
		args, _ := jsonv.Parse([]byte(f.args)) // was checked
		if wrong := inspect.FindWrongArguments(tool, args); len(wrong) > 0 {
			return option.Invalid("--args: %s; nothing was sent (a test with invalid_args: true sends them: load -c SUITE -k NAME)", r.Text(strings.Join(wrong, "; ")))
		}
		params := jsonv.ObjectOf("name", f.tool, "arguments", args).Append(nil)
		f.o.Calls = []load.Call{load.Examined("tools/call", f.tool, params, tool, r.Server.Tolerate, nil)}
	}
	var tools []jsonv.Value
	if slices.ContainsFunc(cases, func(c *plan.Case) bool { return c.Ops[0].Method == "tools/call" }) {
		var err error
		if tools, err = r.Conn.List(ctx, "tools/list", "tools"); err != nil {
			return r.Failed(ctx, "tools/list", err)
		}
	}
	for _, c := range cases {
		op, tool := c.Ops[0], jsonv.Value{}
		if op.Method == "tools/call" {
			at := slices.IndexFunc(tools, func(t jsonv.Value) bool { return t.Lookup("name").Text() == op.Subject })
			if at < 0 {
				return option.Invalid("the test %q: %s", c.Name, r.Text(inspect.NoSuch("tool", op.Subject, inspect.Names(tools, "name"))))
			}
			tool = tools[at]
			if why := f.policy.Repeats(tool); why != "" {
				return option.Invalid("the test %q: %s", c.Name, r.Text(why))
			}
			if wrong := findWrongArguments(c, tool); wrong != "" {
				return option.Invalid("the test %q: %s; nothing was sent (invalid_args: true says that this is intended)", c.Name, r.Text(wrong))
			}
		}
		call := load.Examined(op.Method, op.Subject, op.Params, tool, r.Server.Tolerate, c.Tree)
		call.Header = c.Headers
		f.o.Calls = append(f.o.Calls, call)
	}
	var all []byte // shards of other calls are not merged
	for _, c := range f.o.Calls {
		all = fmt.Appendln(all, c.Method, string(c.Params))
	}
	f.o.Settings.Calls = fmt.Sprintf("%x", sha256.Sum256(all))[:16]
	return nil
}

// findWrongArguments says which arguments of a test the inputSchema does not allow, unless the test
// has them on purpose.
func findWrongArguments(c *plan.Case, tool jsonv.Value) string {
	params, err := jsonv.Parse(c.Ops[0].Params)
	if err != nil || c.InvalidArgs {
		return ""
	}
	return strings.Join(inspect.FindWrongArguments(tool, params.Lookup("arguments")), "; ")
}
