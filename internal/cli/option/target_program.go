package option

import (
	"os"
	"slices"

	"mcptest/internal/base/source"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/process/bundle"
	"mcptest/internal/spec/plan"
)

// makeServer returns a definition with the settings of the flags.
func (f *TargetFlags) makeServer() *plan.Server {
	sv := &plan.Server{
		Name:           "server",
		Pos:            source.Pos{File: &source.File{}},
		Transport:      f.Transport,
		Protocol:       f.Protocol,
		ConnectTimeout: f.ConnectTimeout,
		Timeout:        f.Timeout,
		Sessions:       1,
		Tolerate:       map[string]bool{},
		ValidateOutput: true,
	}
	f.introduce(sv)
	return sv
}

// introduce makes the client of a server the one that --client names. The name has been
// checked.
func (f *TargetFlags) introduce(sv *plan.Server) {
	if c, ok := plan.FindClient(f.Client); ok {
		sv.Client = c
	}
}

// Program returns a server that the command starts in the current folder, with the
// environment that a suite would give it.
func (f *TargetFlags) Program(s cmdutil.Streams, argv []string) (*plan.Server, error) {
	if argv[0] == "" {
		return nil, Invalid("the server's command is empty")
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, Fail(ExitInternal, "find the current folder: %v", err)
	}
	sv := f.makeServer()
	if err := EnvSet(s.Env, "--env", f.env...); err != nil {
		return nil, err
	}
	program, err := f.openBundleProgram(s, argv)
	if err != nil {
		return nil, err
	}
	if program != nil {
		f.startBundle(s, sv, program)
		return sv, nil
	}
	sv.Argv, sv.Dir = slices.Clone(argv), dir
	sv.Env, sv.Withheld = plan.SplitServerEnv(s.Env, f.env)
	if argv[0] == "mcptest" && s.Self != "" {
		sv.Argv[0] = s.Self // as in a suite
	}
	return sv, nil
}

// startBundle makes the server start a bundle, with the environment that a suite would give it.
func (f *TargetFlags) startBundle(s cmdutil.Streams, sv *plan.Server, p *bundle.Program) {
	sv.Bundle, sv.Argv, sv.Dir = p, p.Argv, p.Dir
	sv.Env, sv.Withheld = plan.SplitBundleEnv(s.Env, f.env, p)
}
