package suite

import "mcptest/internal/base/source"

// surfaceEntry is one entry of `surface:`: a test without a call that examines the
// target surface.
type surfaceEntry struct {
	Pos source.Pos
	// The test's name; "surface of" and the server when left out.
	Name string `yaml:"name" example:"the surface is locked" schema:"minLength: 1"`
	// The server, a pattern such as api@*, or a list: the test runs once on each.
	Server Names `yaml:"server" example:"api@*"`
	// The lock file with which the server is compared; a folder with one file per server if it ends with a slash.
	Lock string `yaml:"lock" example:"surface/" schema:"minLength: 1"`
	// The least serious class of changes that fails; any when left out.
	FailOn string `yaml:"fail_on" enum:"breaking|trust|review|any" default:"any" example:"breaking"`
	// How many tokens the tools may take in the context of a model.
	Tokens *tokenBudget `yaml:"tokens" example:"{total: 15000, tool: 1200, growth: 5%}" schema:"minProperties: 1"`
	// The transports or protocol versions over which the server must offer the
	// same.
	SameAs *sameAs `yaml:"same_as" example:"{transport: [streamable-http, sse]}" schema:"minProperties: 1"`
	// Words to select tests by.
	Tags []string `yaml:"tags" example:"[slow]"`
	// The reason why this test is not run.
	Skip *Reason `yaml:"skip" example:"waits for the next release"`
}

// tokenBudget holds the keys of `tokens:`, which are those of the matcher.
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

// sameAs holds the keys of `same_as:`, which are those of the matcher.
type sameAs struct {
	Pos source.Pos
	// Transports of the server's address, or of its variants.
	Transport []string `yaml:"transport"`
	// Protocol versions.
	Protocol []string `yaml:"protocol"`
}

// surfaceTest converts an entry of surface: to a test.
func surfaceTest(t *Test, n *source.Node, d *source.Decoder) {
	var e surfaceEntry
	before := d.Count()
	d.Decode(n, t.Path, &e)
	t.Name, t.Server, t.Tags, t.Skip = e.Name, e.Server, e.Tags, e.Skip
	if t.Name == "" {
		t.Name = "surface"
		if len(e.Server.Items) == 1 {
			t.Name += " of " + e.Server.Items[0].Text
		}
	}
	checkTags(n, t.Path, t.Tags, d)
	if d.Count() > before {
		return // its matchers would find the same mistakes
	}
	list := &source.Node{Pos: n.Pos, Kind: source.KindList}
	add := func(matcher string, arg *source.Node) {
		word := func(text string) *source.Node { return &source.Node{Pos: arg.Pos, Kind: source.KindString, Text: text} }
		list.Items = append(list.Items, mapping(arg.Pos, word("target"), word("surface"), word("matcher"), mapping(arg.Pos, word(matcher), arg)))
	}
	lock := n.Get("lock")
	word := func(text string) *source.Node {
		return &source.Node{Pos: lock.Pos, Kind: source.KindString, Text: text}
	}
	switch failOn := n.Get("fail_on"); {
	case lock == nil && failOn != nil:
		d.Errorf(failOn, t.Path+".fail_on", "fail_on: requires lock:")
	case lock != nil && failOn != nil:
		add("lock", mapping(lock.Pos, word("file"), lock, word("fail_on"), failOn))
	case lock != nil:
		add("lock", lock)
	}
	if tokens := n.Get("tokens"); tokens != nil {
		if tokens.Kind == source.KindMap && tokens.Get("lock") == nil && lock != nil {
			with := *tokens
			with.Fields = append(with.Fields[:len(with.Fields):len(with.Fields)], source.Field{Key: word("lock"), Value: lock})
			tokens = &with
		}
		add("tokens", tokens)
	}
	if same := n.Get("same_as"); same != nil {
		add("same-as", same)
	}
	if len(list.Items) == 0 {
		d.Errorf(n, t.Path, "missing key \"lock\", \"tokens\" or \"same_as\"").Code = "missing-key"
	}
	t.Expect = list
}

// mapping returns a map node of alternating keys and values.
func mapping(pos source.Pos, nodes ...*source.Node) *source.Node {
	out := &source.Node{Pos: pos, Kind: source.KindMap}
	for i := 0; i < len(nodes); i += 2 {
		out.Fields = append(out.Fields, source.Field{Key: nodes[i], Value: nodes[i+1]})
	}
	return out
}
