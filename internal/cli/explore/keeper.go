package explore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
	"mcptest/internal/cli/keeping"
	"mcptest/internal/cli/option"
	"mcptest/internal/process/proc"
	"mcptest/internal/spec/draft"
	"mcptest/internal/spec/keep"
	"mcptest/internal/spec/plan"
	"mcptest/internal/ui/api"
	"mcptest/internal/ui/live"
)

// keeper makes tests of calls, and implements [api.Keeper].
type keeper struct {
	in    *inputs
	tapes *tapes

	mu   sync.Mutex
	made []made
}

// made is an insertion.
type made struct {
	path     string
	created  bool
	proposal keeping.Proposal
	undone   bool
}

func newKeeper(in *inputs, t *tapes) *keeper { return &keeper{in: in, tapes: t} }

// Files implements [api.Keeper].
func (k *keeper) Files() []string {
	dir := getwd()
	return lists.Map(k.in.paths, func(path string) string {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return rel
		}
		return path
	})
}

// FileOf implements [api.Keeper].
func (k *keeper) FileOf(def *plan.Server) int {
	for i, path := range k.in.paths {
		if def.Pos.File.Name == path {
			return i
		}
	}
	return 0
}

// propose returns the test of a call in a suite of the command line. The caller holds the
// lock.
func (k *keeper) propose(s api.Subject, c api.Choice) (*keeping.Keeper, keeping.Request, keeping.Proposal, error) {
	if len(k.in.paths) == 0 {
		return nil, keeping.Request{}, keeping.Proposal{}, refuse("%s", noSuite)
	}
	if c.File < 0 || c.File >= len(k.in.paths) {
		return nil, keeping.Request{}, keeping.Proposal{}, refuse("there is no suite with this number")
	}
	if strings.ContainsAny(c.Name, "\r\n") || c.Name != "" && strings.TrimSpace(c.Name) == "" {
		return nil, keeping.Request{}, keeping.Proposal{}, refuse("the name is empty, or has a line break")
	}
	r, err := k.requestOf(s)
	if err != nil {
		return nil, r, keeping.Proposal{}, err
	}
	r.Leave = c.Leave
	r.Test.Chosen = c.Parts
	var text []byte
	if k.in.creates {
		if text, err = k.makeFirstText(); err != nil {
			return nil, r, keeping.Proposal{}, err
		}
	}
	flags := k.in.copySuiteFlags()
	suite, err := keeping.Choose(k.in.streams, &flags, k.in.paths[c.File], c.Name, text)
	if err != nil {
		return nil, r, keeping.Proposal{}, err
	}
	p, err := suite.Propose(r)
	return suite, r, p, err
}

const noSuite = "there is no suite to write the test to: mcptest init writes a first one, and mcptest cassette promote " +
	"one of a cassette; start mcptest ui with its name"

// requestOf returns a subject as a request that can be kept.
func (k *keeper) requestOf(s api.Subject) (keeping.Request, error) {
	if s.Recorded != nil {
		return k.tapes.request(*s.Recorded)
	}
	return k.request(s.Call)
}

// request returns a call as a request that can be kept.
func (k *keeper) request(call live.Call) (keeping.Request, error) {
	answer, ok := keeping.AnswerOf(call.Exchange)
	if !ok {
		return keeping.Request{}, refuse("there is no result to be kept")
	}
	w := call.Wanted
	r := keeping.Request{Argv: k.in.argv, URL: k.in.flags.URL, Redactor: k.in.redactor}
	if k.in.one == nil {
		r.Server = call.Def.Name
	}
	r.Test = draft.Test{Block: nameBlock(w.Kind), Subject: w.Name, Args: w.Args, Answers: []draft.Answer{answer}}
	r.Test.Respond = keeping.ScriptResponses(call.Exchange)
	if w.Kind == live.CallTool {
		misfit := func(warning string) bool { return strings.HasPrefix(warning, "argument ") }
		r.Test.InvalidArgs = slices.ContainsFunc(call.Warnings, misfit)
	}
	if !w.Meta.IsAbsent() {
		return r, refuse("a call with _meta is not kept: tests of tools have no key for it")
	}
	return r, nil
}

// nameBlock returns the list of a suite that tests of a kind of calls are in.
func nameBlock(kind string) string {
	switch kind {
	case live.ReadResource:
		return "resources"
	case live.GetPrompt:
		return "prompts"
	}
	return "tools"
}

// makeFirstText returns a suite without tests for the server of the command line.
func (k *keeper) makeFirstText() ([]byte, error) {
	f := k.in.flags
	if len(f.Headers) > 0 || f.CAFile != "" || f.Insecure {
		return nil, refuse("a suite for a server with -H, --ca-file or --insecure is not created here: " +
			"mcptest init --url … writes one, which mcptest ui SUITE then uses")
	}
	secrets := k.in.redactor
	server := jsonv.Object()
	if f.URL != "" {
		server = server.With("url", jsonv.String(draft.EscapePlaceholders(f.URL)))
	} else {
		server = server.With("command", jsonv.List(k.in.argv, func(word string) jsonv.Value {
			return jsonv.String(draft.EscapePlaceholders(makePortable(word)))
		}))
	}
	if f.BearerEnv != "" {
		server = server.With("auth", jsonv.ObjectOf("bearer_token_env", f.BearerEnv))
	}
	if names := f.EnvNames(); len(names) > 0 {
		env := jsonv.Object()
		for _, name := range names {
			env = env.With(name, jsonv.String("${"+name+"}"))
		}
		server = server.With("env", env)
	}
	text := "servers:\n  server:\n"
	for key, v := range server.Members() {
		text += "    " + key + ": " + source.Flow(v, source.FlowText) + "\n"
	}
	if secrets.String(text) != text {
		return nil, refuse("the command or address contains a secret, so no suite is created: " +
			"pass it in a variable of the environment, with --env")
	}
	return []byte(text), nil
}

// showProposal stands for the content of a file and the test that was shown with it.
func showProposal(p keeping.Proposal) string {
	sum := sha256.Sum256(p.After)
	return hex.EncodeToString(sum[:])
}

// Draft implements [api.Keeper].
func (k *keeper) Draft(s api.Subject, c api.Choice) (api.Draft, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, r, p, err := k.propose(s, c)
	if err != nil {
		return api.Draft{}, err
	}
	parts := lists.Map(r.Test.Chosen, func(part draft.Part) int { return r.Test.FindPart(p.Expect, part) })
	assertions := lists.Map(p.Expect, func(x draft.Expectation) api.Assertion {
		v := jsonv.ObjectOf("target", x.Target, "matcher", jsonv.ObjectOf(x.Matcher, x.Argument))
		return api.Assertion{Text: source.Flow(v, source.FlowText), Sentence: x.Sentence(), Note: x.Review()}
	})
	notes := p.Notes
	if path := k.findOwnPath(); k.in.creates && path != "" {
		notes = append(notes, "the command has "+path+", which is outside of this folder: others need it at the same place, "+
			"so change it in the suite to one that they have, such as npx and the name of a package")
	}
	if chosen := s.Call.Chosen; chosen != "" {
		notes = append(notes, "the call was made with protocol "+chosen+"; the test uses what the suite says")
	}
	return api.Draft{
		Name: p.Name, Assertions: assertions, Parts: parts, Diff: p.Diff, Notes: notes,
		Shown: showProposal(p), Creates: k.in.creates,
	}, nil
}

// makePortable returns a word of a command as it is written to a suite in this folder: an absolute
// path of a file or folder in it becomes a relative one, which holds in every checkout.
func makePortable(word string) string {
	if flag, path, ok := strings.Cut(word, "="); ok && strings.HasPrefix(flag, "-") {
		return flag + "=" + makePortable(path)
	}
	here, err := os.Getwd()
	if err != nil || !filepath.IsAbs(word) {
		return word
	}
	inside, err := filepath.Rel(here, word)
	if err != nil || !filepath.IsLocal(inside) {
		return word
	}
	if _, err := os.Stat(word); err != nil {
		return word
	}
	if inside == "." {
		return inside
	}
	return "./" + filepath.ToSlash(inside)
}

// findOwnPath returns the first path in the command of the server that leads out of this folder;
// "" if there is none.
func (k *keeper) findOwnPath() string {
	for _, word := range k.in.argv {
		word = makePortable(word)
		if flag, path, ok := strings.Cut(word, "="); ok && strings.HasPrefix(flag, "-") {
			word = path
		}
		out := strings.HasPrefix(filepath.ToSlash(filepath.Clean(word)), "../")
		if filepath.IsAbs(word) || out {
			return word
		}
	}
	return ""
}

// Insert implements [api.Keeper].
func (k *keeper) Insert(ctx context.Context, s api.Subject, c api.Choice, seen string) (api.Inserted, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	suite, r, p, err := k.propose(s, c)
	if err != nil {
		return api.Inserted{}, err
	}
	if showProposal(p) != seen {
		return api.Inserted{}, refuse("%s has changed since the test was shown, so nothing was written: "+
			"look at the test again", k.in.paths[c.File])
	}
	if err := suite.Accept(ctx, r); err != nil {
		return api.Inserted{}, err
	}
	k.made = append(k.made, made{path: k.in.paths[c.File], created: k.in.creates, proposal: p})
	k.in.creates = false
	place := fmt.Sprintf("%s:%d", k.in.paths[c.File], p.Line)
	return api.Inserted{ID: len(k.made) - 1, Name: p.Name, Place: place, Calls: r.Test.Subject}, nil
}

// find returns an insertion. The caller holds the lock.
func (k *keeper) find(id int) (*made, error) {
	if id < 0 || id >= len(k.made) || k.made[id].undone {
		return nil, refuse("there is no such insertion")
	}
	return &k.made[id], nil
}

// Undo implements [api.Keeper].
func (k *keeper) Undo(ctx context.Context, id int) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	m, err := k.find(id)
	if err != nil {
		return err
	}
	revert := keeping.Revert
	if m.created {
		revert = keeping.RemoveCreated
	}
	if err := revert(ctx, m.path, m.proposal); err != nil {
		if refused, ok := errors.AsType[*keep.RefusedError](err); ok {
			return refuse("%s: Undo works only until the file changes again", refused.Reason)
		}
		return err
	}
	m.undone = true
	k.in.creates = k.in.creates || m.created
	return nil
}

// Run implements [api.Keeper]: it is `mcptest run` with the name of the test, which no other
// test of the suite has.
func (k *keeper) Run(ctx context.Context, id int) (api.Verdict, error) {
	k.mu.Lock()
	m, err := k.find(id)
	k.mu.Unlock()
	if err != nil {
		return api.Verdict{}, err
	}
	s := k.in.streams
	if s.Self == "" {
		return api.Verdict{}, refuse("this program was not found, so the test was not run")
	}
	argv := k.in.runArgs([]string{m.path}, "--filter", keeping.ExactName(m.proposal.Name))
	done := proc.Run(ctx, proc.Spec{
		Name: "mcptest run", Argv: argv, Dir: getwd(), Env: s.Env, Registry: k.in.shared.World.Registry,
	})
	text := strings.TrimSpace(done.Stdout.String() + "\n" + done.Stderr.String())
	decided := done.Exit.Code == option.ExitPassed || done.Exit.Code == option.ExitFailed
	if done.StartErr != nil || done.Cause != nil || !decided {
		return api.Verdict{Text: text}, refuse("the test was not run: %v\n%s", done.Err(), text)
	}
	return api.Verdict{Passed: done.Exit.Success(), Text: text}, nil
}
