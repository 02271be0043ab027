package option

import (
	"mcptest/internal/base/source"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/process/bundle"
	"mcptest/internal/process/proc"
)

// openBundleProgram returns what the bundle after -- starts; nil if argv is a program. Mistakes
// in the bundle have been printed.
func (f *SuiteFlags) openBundleProgram(s cmdutil.Streams, argv []string) (*bundle.Program, error) {
	if !bundle.IsFile(argv) {
		return nil, nil
	}
	b, ds := bundle.Open(argv[0], argv[0])
	var p *bundle.Program
	if b != nil && !ds.HasErrors() {
		var more source.Diagnostics
		p, more = b.Program(bundle.Config{}, SystemOf(s.Env), f.openBundles())
		ds = append(ds, more...)
	}
	if errs, _ := PrintDiagnostics(s, f.Color, ds); errs > 0 {
		return nil, &ExitError{Code: ExitInvalid}
	}
	return p, nil
}

// BundleProgram returns what the bundle after -- starts, for commands without a suite; nil if
// argv is a program.
func BundleProgram(s cmdutil.Streams, argv []string) (*bundle.Program, error) {
	return new(SuiteFlags).openBundleProgram(s, argv)
}

// Prepare returns what unpacks a bundle before its start.
func Prepare(p *bundle.Program) func(*proc.Registry) error {
	return func(r *proc.Registry) error { return p.Prepare(r) }
}
