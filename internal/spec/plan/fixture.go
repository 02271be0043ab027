package plan

import (
	"cmp"
	"fmt"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/base/source"
	"mcptest/internal/process/probe"
	"mcptest/internal/spec/suite"
)

// fixtureCompiler compiles hooks and fixture steps.
type fixtureCompiler struct{ c *compiler }

// compileFixtures compiles all hooks and fixture steps of a file.
func (c *compiler) compileFixtures() {
	s, f, x := c.suite, c.file, fixtureCompiler{c}
	f.BeforeAll = x.compileHooks("beforeAll", s.Hooks.BeforeAll)
	f.AfterAll = x.compileHooks("afterAll", s.Hooks.AfterAll)
	f.BeforeEach = x.compileHooks("beforeEach", s.Hooks.BeforeEach)
	f.AfterEach = x.compileHooks("afterEach", s.Hooks.AfterEach)
	f.Setup = x.compileSteps("setup", s.Setup)
	f.SetupPerTest = x.compileSteps("setup_per_test", s.SetupPerTest)
	f.TeardownPerTest = x.compileSteps("teardown_per_test", s.TeardownPerTest)
	f.Teardown = x.compileSteps("teardown", s.Teardown)
}

func (x fixtureCompiler) compileHooks(phase string, list suite.HookList) []*Hook {
	var out []*Hook
	for _, h := range list {
		if h == nil || h.Command == nil || h.Command.Kind == source.KindString && h.Command.Text == "" {
			continue // reported by the decoder
		}
		hook := &Hook{
			Phase:   phase,
			Command: h.Command.Text,
			Context: h.Context,
			Pos:     h.Pos,
			Dir:     x.c.resolvePath("", h.Pos.File),
			Timeout: defaultDuration(h.Timeout, defaultDuration(x.c.suite.Hooks.Timeout, DefaultStepTimeout)),
		}
		if h.Command.Kind == source.KindList {
			hook.Argv = x.c.replaceSelf(x.c.compileArgv(h.Command, h.Scope, h.Path+".command"))
			hook.Command = shellwords.QuoteAll(hook.Argv)
		} else {
			hook.Argv = x.c.replaceSelf(x.c.compileWords(h.Command, h.Scope, h.Path, "hooks run one program, not a shell; write "+shellwords.WrapInShell()))
		}
		out = append(out, hook)
	}
	return out
}

func (x fixtureCompiler) compileSteps(phase string, list []*suite.Step) []*Step {
	var out []*Step
	for _, s := range list {
		if st := x.compileStep(phase, s); st != nil {
			out = append(out, st)
		}
	}
	return out
}

func (x fixtureCompiler) compileStep(phase string, s *suite.Step) *Step {
	st := &Step{
		Phase: phase, Name: s.Name, Background: s.Background, WaitFor: s.WaitFor, Always: s.Always,
		CaptureFailure: s.CaptureFailure, Timeout: defaultDuration(s.Timeout, DefaultStepTimeout), Pos: s.Pos,
	}
	hasRun := s.Has("run")
	switch {
	case hasRun && s.Has("call"):
		x.c.dec.ErrorAt(s.KeyPos("call"), s.Path, "a step has exactly one of run and call; this one has both", "split it into two steps")
		return nil
	case !hasRun && s.Call == nil:
		if s.Node().Kind == source.KindMap {
			x.c.dec.ErrorAt(s.Pos, s.Path, "a step needs run: [program, arguments…] or call: {tool, args}", "")
		}
		return nil
	case s.Call != nil:
		x.callStep(st, s)
	default:
		x.runStep(st, s)
	}
	st.Name = cmp.Or(st.Name, stepName(st))
	x.checkStep(st, s)
	return st
}

func stepName(st *Step) string {
	if st.Call != nil {
		return "call " + st.Call.Subject
	}
	return strings.Join(st.Argv, " ")
}

func (x fixtureCompiler) runStep(st *Step, s *suite.Step) {
	st.Argv = x.c.replaceSelf(x.c.compileArgv(s.Run, s.Scope, s.Path+".run"))
	st.Dir = x.c.resolvePath(s.Cwd, s.Pos.File)
	for _, e := range s.Env.Entries {
		st.Env = append(st.Env, e.Key+"="+string(e.Value))
	}
}

// areVariants reports whether all servers of a file are variants of one.
func areVariants(servers []*Server) bool {
	for _, s := range servers {
		if !s.isVariantOf(servers[0]) {
			return false
		}
	}
	return len(servers) > 0
}

func (x fixtureCompiler) callStep(st *Step, s *suite.Step) {
	server := x.c.file.Default
	st.unnamed = s.Call.Server == ""
	isPerTest := strings.HasSuffix(st.Phase, "_per_test")
	if st.unnamed && server == nil && isPerTest && areVariants(x.c.file.Servers) {
		server = x.c.file.Servers[0] // replaced by the server that each test uses
	}
	if !st.unnamed {
		if server = x.c.file.Server(s.Call.Server); server == nil {
			x.c.reportUnknownServer(s.Call.Pos, s.Path+".call.server", s.Call.Server)
		}
	} else if server == nil {
		x.c.dec.ErrorAt(s.Call.Pos, s.Path+".call", "names no server, and the suite has no default_server",
			"add server: to the call, or default_server: to the suite")
	}
	if n := s.Node().Get("call").Get("tool"); n != nil && n.Kind == source.KindString && n.Text == "" {
		x.c.dec.Errorf(n, s.Path+".call.tool", "tool is empty")
	}
	call := suite.Invocation{Tool: s.Call.Tool, Args: s.Call.Args}
	st.Call = newOp(suite.Tools, call, server, s.Node())
	if call.Args != nil && call.Args.JSON().Kind() != jsonv.KindObject {
		x.c.dec.ReportWrongType(call.Args, s.Path+".call.args", "a map of arguments")
	}
	if s.Background {
		x.c.dec.ErrorAt(s.KeyPos("background"), s.Path+".background", "background can be used only with run:, not with call:", "")
	}
	for _, key := range []string{"env", "cwd"} {
		if s.Has(key) {
			x.c.dec.ErrorAt(s.KeyPos(key), s.Path+"."+key, key+" can be used only with run:, not with call:", "")
		}
	}
}

func (x fixtureCompiler) checkStep(st *Step, s *suite.Step) {
	if s.Has("always") && !st.After() {
		x.c.dec.ErrorAt(s.KeyPos("always"), s.Path+".always", "always can be used only in teardown steps: "+st.Phase+" steps always run", "")
	}
	if s.Background && st.After() {
		x.c.dec.ErrorAt(s.KeyPos("background"), s.Path+".background", "a teardown step can't run in the background: nothing runs after it", "")
	}
	if st.WaitFor == "" {
		if s.Has("wait_for") {
			x.c.dec.ErrorAt(s.KeyPos("wait_for"), s.Path+".wait_for", "wait_for is empty", "")
		}
		return
	}
	if _, err := probe.Parse(st.WaitFor); err != nil {
		x.c.dec.ErrorAt(s.KeyPos("wait_for"), s.Path+".wait_for", err.Error(), "use tcp://host:port, http(s)://…, /path on the default server, or log:/regex/")
		return
	}
	if strings.HasPrefix(st.WaitFor, "/") && (x.c.file.Default == nil || x.c.file.Default.URL == "") {
		x.c.dec.ErrorAt(s.KeyPos("wait_for"), s.Path+".wait_for",
			fmt.Sprintf("%s is a path on the default server, which has no url", st.WaitFor), "write the whole address: http://127.0.0.1:PORT"+st.WaitFor)
	}
	if strings.HasPrefix(st.WaitFor, "log:") && st.Call != nil {
		x.c.dec.ErrorAt(s.KeyPos("wait_for"), s.Path+".wait_for", "log: reads the output of run:, and this step has call:", "")
	}
}
