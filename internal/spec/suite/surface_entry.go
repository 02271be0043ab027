package suite

import (
	"cmp"
	"slices"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite/lint"
)

// entryKeys are the keys that the entries of surface:, check: and probe: have in common.
type entryKeys struct {
	namedKeys `yaml:",inline"`
	// The server, a pattern such as api@*, or a list: the test runs once on each.
	Server Names `yaml:"server" example:"api@*"`
}

// namedKeys are entryKeys of tests that need no server.
type namedKeys struct {
	// The test's name; what it does and the server when left out.
	Name string `yaml:"name" example:"the surface is locked" schema:"minLength: 1"`
	// Words to select tests by.
	Tags []string `yaml:"tags" example:"[slow]"`
	// The reason why this test is not run.
	Skip *Reason `yaml:"skip" example:"waits for the next release"`
	// Why the test is expected to fail. A failure then counts as skipped, and the test fails if it passes.
	ExpectFailure string `yaml:"expect_failure" example:"the search ignores accents" schema:"pattern: '\\S'"`
}

func (e *entryKeys) common(does string) Common {
	c := e.namedKeys.common(does + formatServers(e.Server))
	c.Server = e.Server
	return c
}

func (e *namedKeys) common(name string) Common {
	return Common{Name: cmp.Or(e.Name, name), Tags: e.Tags, Skip: e.Skip, TestKeys: TestKeys{ExpectFailure: e.ExpectFailure}}
}

// surfaceEntry is one entry of `surface`: a test without a call. At least one of
// `lock`, `tokens` and `same_as`.
type surfaceEntry struct {
	Pos       source.Pos
	entryKeys `yaml:",inline"`
	// The lock file with which the server is compared; a folder with one file per server if it ends with a slash.
	Lock string `yaml:"lock" example:"surface/" schema:"minLength: 1"`
	// The least serious class of changes that fails; any when left out.
	FailOn string `yaml:"fail_on" enum:"breaking|trust|review|any" default:"any" example:"breaking"`
	// How many tokens the tools may take in the context of a model.
	Tokens *tokenBudget `yaml:"tokens" title:"A token budget" example:"{total: 15000, tool: 1200, growth: 5%}" schema:"minProperties: 1"`
	// The server that must offer the same, or the transports or protocol versions over
	// which this one must.
	SameAs *sameAs `yaml:"same_as" title:"Equal surfaces" example:"{transport: [streamable-http, sse]}" schema:"minProperties: 1"`
}

// tokenBudget is `surface[].tokens`. Claude and Gemini count differently; the estimate
// is a yardstick.
type tokenBudget struct {
	Pos source.Pos
	// The most tokens that all tools together may take (an estimate: a quarter of the bytes of their definitions).
	Total *int `yaml:"total" example:"15000" schema:"minimum: 1"`
	// The most tokens that one tool may take.
	Tool *int `yaml:"tool" example:"1200" schema:"minimum: 1"`
	// How much the total may grow since the lock file was written.
	Growth string `yaml:"growth" example:"5%"`
	// The lock file from which growth is measured; lock of the entry when left out.
	Lock string `yaml:"lock" example:"surface/"`
}

// sameAs is `surface[].same_as`.
type sameAs struct {
	Pos source.Pos
	// Another server, such as a gateway. If it has variants, api@old is compared with its variant old.
	Server string `yaml:"server" example:"gateway" schema:"minLength: 1"`
	// Transports of the server's address, or of its variants.
	Transport []string `yaml:"transport"`
	// Protocol versions.
	Protocol []string `yaml:"protocol"`
}

// Offer is the action of a test that examines what its server offers.
type Offer struct{}

// Name is what is examined.
func (Offer) Name() string { return "surface" }

// Plan says that the lists are requested.
func (Offer) Plan() string { return "request what the server offers" }

// Connects is true: the lists are requested in a session.
func (Offer) Connects() bool { return true }

// Refuses nothing.
func (Offer) Refuses(bool) (why, hint string) { return "", "" }

// AdviseKey returns the place of a test with assertions of its own.
func (*surfaceEntry) AdviseKey(key string) string {
	if key = lint.TestKey(key); key == "expect" {
		return "a test that examines the target surface is listed in tools:, without a call: tools: [{name: …, expect: [{target: surface.tools, matcher: …}]}]"
	}
	return key
}

func (e *surfaceEntry) action() Action { return Offer{} }

func (e *surfaceEntry) common() Common { return e.entryKeys.common("surface") }

// formatServers returns the end of a test's name that names its only server.
func formatServers(servers Names) string {
	if len(servers.Items) != 1 {
		return ""
	}
	return " of " + servers.Items[0].Text
}

// expectations returns an assertion for each matcher of the entry.
func (e *surfaceEntry) expectations(n *source.Node, path string, d *source.Decoder) *source.Node {
	list := &source.Node{Pos: n.Pos, Kind: source.KindList}
	add := func(matcher string, arg *source.Node) { list.Items = append(list.Items, offers(matcher, arg)) }
	lock := n.Get("lock")
	failOn := n.Get("fail_on")
	switch {
	case lock == nil && failOn != nil:
		d.Errorf(failOn, path+".fail_on", "fail_on: requires lock:")
	case lock != nil && failOn != nil:
		add("lock", newMapping(lock.Pos, "file", lock, "fail_on", failOn))
	case lock != nil:
		add("lock", lock)
	}
	if tokens := n.Get("tokens"); tokens != nil {
		if tokens.Kind == source.KindMap && tokens.Get("lock") == nil && lock != nil {
			with := *tokens
			with.Fields = append(slices.Clip(with.Fields), newMapping(lock.Pos, "lock", lock).Fields...)
			tokens = &with
		}
		add("tokens", tokens)
	}
	if same := n.Get("same_as"); same != nil {
		add("same-as", same)
	}
	if len(list.Items) == 0 {
		d.Errorf(n, path, "missing key \"lock\", \"tokens\" or \"same_as\"").Code = "missing-key"
	}
	return list
}

// offers returns an assertion on what the server offers.
func offers(matcher string, arg *source.Node) *source.Node {
	root := &source.Node{Pos: arg.Pos, Kind: source.KindString, Text: "surface"}
	return newMapping(arg.Pos, "target", root, "matcher", newMapping(arg.Pos, matcher, arg))
}

// newMapping returns a map node of alternating keys and values.
func newMapping(pos source.Pos, pairs ...any) *source.Node {
	out := &source.Node{Pos: pos, Kind: source.KindMap}
	for i := 0; i < len(pairs); i += 2 {
		key := &source.Node{Pos: pos, Kind: source.KindString, Text: pairs[i].(string)}
		out.Fields = append(out.Fields, source.Field{Key: key, Value: pairs[i+1].(*source.Node)})
	}
	return out
}
