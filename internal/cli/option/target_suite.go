package option

import (
	"cmp"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/source"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/client/mcp"
	"mcptest/internal/spec/plan"
)

// compileFile returns the suite file of --config.
func (f *TargetFlags) compileFile(s cmdutil.Streams, redactor *secret.Redactor) (*plan.File, error) {
	paths, err := f.Paths(nil)
	if err != nil {
		return nil, err
	}
	if len(paths) != 1 {
		return nil, Invalid("--config: expected one suite file, got %d", len(paths))
	}
	p, diags, err := f.Compile(paths, s, redactor)
	if err != nil {
		return nil, err
	}
	if !f.compiledOnce || diags.HasErrors() {
		if errs, _ := PrintDiagnostics(s, f.Color, diags); errs > 0 || len(p.Files) != 1 {
			return nil, Invalid("%s in %s", display.Count(max(errs, 1), "error"), paths[0])
		}
	}
	f.compiledOnce = true
	return p.Files[0], nil
}

// Names returns the servers that the flags select: those of a suite that match a pattern,
// or if all is set, all of a suite without --server; otherwise one.
func (f *TargetFlags) Names(s cmdutil.Streams, argv []string, all bool) (names []string, err error) {
	all = all && f.Server == "" && len(f.Configs) > 0
	if len(argv) > 0 || f.URL != "" || !all && !strings.Contains(f.Server, "*") {
		return []string{f.Server}, nil
	}
	file, err := f.compileFile(s, secret.NewRedactor())
	if err != nil {
		return nil, err
	}
	for _, sv := range file.Matching(cmp.Or(f.Server, "*")) {
		names = append(names, sv.Name)
	}
	if len(names) == 0 {
		return nil, Invalid("%s", explainNoServer(file, f.Server))
	}
	return names, nil
}

// OfSuite returns the definition of a server in a suite: the named one, or the
// default.
func (f *TargetFlags) OfSuite(s cmdutil.Streams, redactor *secret.Redactor) (*plan.Server, error) {
	file, err := f.compileFile(s, redactor)
	if err != nil {
		return nil, err
	}
	sv := file.Default
	if f.Server != "" {
		sv = file.Server(f.Server)
	}
	if sv == nil {
		return nil, Invalid("%s", explainNoServer(file, f.Server))
	}
	if (f.tokenFile != "" || f.lost != nil) && sv.NeedsLogin() {
		if why := newNoToken(f.tokenFile, f.lost)(sv); why != "" {
			return nil, Invalid("%s; run: %s", why, sv.LoginCommand())
		}
	}
	out := *sv
	if f.Protocol != mcp.Auto {
		out.Protocol = f.Protocol
	}
	out.Timeout = cmp.Or(out.Timeout, f.Timeout)
	return &out, nil
}

func explainNoServer(file *plan.File, name string) string {
	what := " declares no server called " + name
	if name == "" {
		what = " has no default server: use --server NAME"
	}
	return file.Path + what + source.Parenthesis(file.Suite.SuggestServer(name))
}
