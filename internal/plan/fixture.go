package plan

import (
	"fmt"
	"strings"

	"mcptest/internal/jsonv"
	"mcptest/internal/proc"
	"mcptest/internal/source"
	"mcptest/internal/suite"
)

// fixtures compiles hooks and fixture steps.
func (c *compiler) fixtures() {
	s, f := c.suite, c.file
	f.BeforeAll = c.hooks("beforeAll", s.Hooks.BeforeAll)
	f.AfterAll = c.hooks("afterAll", s.Hooks.AfterAll)
	f.BeforeEach = c.hooks("beforeEach", s.Hooks.BeforeEach)
	f.AfterEach = c.hooks("afterEach", s.Hooks.AfterEach)
	f.Setup = c.steps("setup", s.Setup)
	f.SetupPerTest = c.steps("setup_per_test", s.SetupPerTest)
	f.Teardown = c.steps("teardown", s.Teardown)
}

func (c *compiler) hooks(phase string, list suite.HookList) []*Hook {
	var out []*Hook
	for _, h := range list {
		if h == nil || h.Command == nil || h.Command.Text == "" {
			continue // reported by the decoder
		}
		hook := &Hook{
			Phase: phase, Command: h.Command.Text, Context: h.Context, Pos: h.Pos, Dir: c.path("", h.Pos.File),
			Timeout: orDuration(h.Timeout, orDuration(c.suite.Hooks.Timeout, DefaultStepTimeout)),
		}
		hook.Argv = c.self(c.words(h.Command, h.Scope, h.Path, "hooks run one program, not a shell; write bash -c '…'"))
		out = append(out, hook)
	}
	return out
}

func (c *compiler) steps(phase string, list []*suite.Step) []*Step {
	var out []*Step
	for _, s := range list {
		if st := c.fixtureStep(phase, s); st != nil {
			out = append(out, st)
		}
	}
	return out
}

func (c *compiler) fixtureStep(phase string, s *suite.Step) *Step {
	st := &Step{
		Phase: phase, Name: s.Name, Background: s.Background, WaitFor: s.WaitFor, Always: s.Always,
		CaptureFailure: s.CaptureFailure, Timeout: orDuration(s.Timeout, DefaultStepTimeout), Pos: s.Pos,
	}
	switch hasRun := s.Has("run"); {
	case hasRun && s.Has("call"):
		report(c.dec, s.KeyPos("call"), s.Path, "a step has exactly one of run and call; this one has both", "make two steps of it")
		return nil
	case !hasRun && s.Call == nil:
		report(c.dec, s.Pos, s.Path, "a step needs run: [program, arguments…] or call: {tool, args}", "")
		return nil
	case s.Call != nil:
		c.callStep(st, s)
	default:
		c.runStep(st, s)
	}
	if st.Name == "" {
		st.Name = stepName(st)
	}
	c.checkStep(st, s)
	return st
}

func stepName(st *Step) string {
	if st.Call != nil {
		return "call " + st.Call.Subject
	}
	return strings.Join(st.Argv, " ")
}

func (c *compiler) runStep(st *Step, s *suite.Step) {
	st.Argv = c.self(suite.Texts(s.Run))
	// What is no list of text has been reported as such.
	if n := s.Node().Get("run"); n.Kind == source.KindList && (len(n.Items) == 0 || n.Items[0].Kind == source.KindString && len(st.Argv) > 0 && st.Argv[0] == "") {
		report(c.dec, s.KeyPos("run"), s.Path+".run", "the command is empty", "")
	}
	st.Dir = c.path(s.Cwd, s.Pos.File)
	for _, e := range s.Env.Entries {
		st.Env = append(st.Env, e.Key+"="+string(e.Value))
	}
}

func (c *compiler) callStep(st *Step, s *suite.Step) {
	server := c.file.Default
	if s.Call.Server != "" {
		if server = c.file.Server(s.Call.Server); server == nil {
			c.unknownServer(s.Call.Pos, s.Path+".call.server", s.Call.Server)
		}
	} else if server == nil {
		report(c.dec, s.Call.Pos, s.Path+".call", "names no server, and there is no default_server",
			"add server: to the call, or default_server: to the suite")
	}
	if n := s.Node().Get("call").Get("tool"); n != nil && n.Kind == source.KindString && n.Text == "" {
		c.dec.Errorf(n, s.Path+".call.tool", "tool is empty")
	}
	call := suite.Invocation{Tool: s.Call.Tool, Args: s.Call.Args}
	st.Call = c.op(suite.Tools, call, server, s.Node())
	if call.Args != nil && call.Args.JSON().Kind() != jsonv.KindObject {
		c.dec.WrongType(call.Args, s.Path+".call.args", "a map of arguments")
	}
	if s.Background {
		report(c.dec, s.KeyPos("background"), s.Path+".background", "background is for run:, not for call:", "")
	}
	for _, key := range []string{"env", "cwd"} {
		if s.Has(key) {
			report(c.dec, s.KeyPos(key), s.Path+"."+key, key+" is for run:, not for call:", "")
		}
	}
}

func (c *compiler) checkStep(st *Step, s *suite.Step) {
	if s.Has("always") && st.Phase != "teardown" {
		report(c.dec, s.KeyPos("always"), s.Path+".always", "always is for teardown steps: "+st.Phase+" steps run in any case", "")
	}
	if s.Background && st.Phase == "teardown" {
		report(c.dec, s.KeyPos("background"), s.Path+".background", "a teardown step can't stay in the background: nothing comes after it", "")
	}
	if st.WaitFor == "" {
		if s.Has("wait_for") {
			report(c.dec, s.KeyPos("wait_for"), s.Path+".wait_for", "wait_for is empty", "")
		}
		return
	}
	if _, err := proc.ParseProbe(st.WaitFor); err != nil {
		report(c.dec, s.KeyPos("wait_for"), s.Path+".wait_for", err.Error(), "use tcp://host:port, http(s)://…, /path on the default server, or log:/regex/")
		return
	}
	if strings.HasPrefix(st.WaitFor, "/") && (c.file.Default == nil || c.file.Default.URL == "") {
		report(c.dec, s.KeyPos("wait_for"), s.Path+".wait_for",
			fmt.Sprintf("%s is a path on the default server, which has no url", st.WaitFor), "write the whole address: http://127.0.0.1:PORT"+st.WaitFor)
	}
	if strings.HasPrefix(st.WaitFor, "log:") && st.Call != nil {
		report(c.dec, s.KeyPos("wait_for"), s.Path+".wait_for", "log: reads the output of run:, and this step is a call", "")
	}
}

// self replaces the word mcptest at the start of a command by this program.
func (c *compiler) self(argv []string) []string {
	if len(argv) > 0 && argv[0] == "mcptest" && c.set.Self != "" {
		argv[0] = c.set.Self
	}
	return argv
}
