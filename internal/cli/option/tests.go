package option

import (
	"mcptest/internal/base/display"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/spec/plan"
)

// Tests reads the suite of --config with its tests, none of which is run; nil without --config.
// The secrets of the suite are in Secrets.
func (f *TargetFlags) Tests(s cmdutil.Streams) (*plan.Plan, error) {
	if len(f.Configs) == 0 {
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
	set.CI = false // which may refuse what is only read here
	p, more := plan.Compile(suites, set)
	f.AddSecrets(suites)
	if errs, _ := PrintDiagnostics(s, f.Color, append(diags, more...), f.Secrets...); errs > 0 {
		return nil, Invalid("%s in %s", display.Count(errs, "error"), paths[0])
	}
	f.compiledOnce = len(paths) == 1
	return p, nil
}
