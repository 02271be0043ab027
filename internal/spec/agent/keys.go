package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/server/manifest"
)

// Keys are the keys of a test of `agents` that no other test has.
type Keys struct {
	// Other servers whose tools the model is offered, too; every tool is then called SERVER__TOOL, or TOOL where only one server has it.
	With []string `yaml:"with" example:"[files]" schema:"items: {type: string, minLength: 1}"`
	// The model, or a list: the test runs once with each. script answers what the test says, and is the default of a test with script.
	Model names `yaml:"model"`
	// The system prompt; none is sent when left out.
	System string `yaml:"system" example:"You maintain repositories."`
	// What the user says.
	Prompt string `yaml:"prompt,required" example:"Show me the newest open issue of acme/web." schema:"pattern: '\\S'"`
	// The most answers of the model. A conversation that would need more fails, unless an assertion examines stop.
	Turns int `yaml:"turns" default:"10" example:"8" range:"1-1000"`
	// Responses in place of those of the server, by tool, in the form of a mock server's; the calls never reach the server.
	Mock *source.Node `yaml:"mock"`
	// Tools that may write and are called nevertheless, by exact name.
	AllowWrites []string `yaml:"allow_writes" example:"[add_label]" schema:"items: {type: string, minLength: 1}"`
	// What one conversation may use; it ends when that is reached, and fails, unless an assertion examines stop.
	Budget *Budget `yaml:"budget" title:"The budget of a conversation" example:"{tokens: 20000, usd: 0.05}" schema:"minProperties: 1"`
	// What the model script answers, in order.
	Script []*Answer `yaml:"script" title:"An answer of the model script" example:"[{call: {search_issues: {state: open}}}, {say: \"It is #42.\"}]"`
}

// Budget is `agents[].budget`.
type Budget struct {
	// Tokens of requests and answers together.
	Tokens int `yaml:"tokens" example:"20000" range:"1-1000000000"`
	// USD, which requires the model's price.
	USD float64 `yaml:"usd" example:"0.05" range:">0"`
}

// Answer is one entry of `agents[].script`.
type Answer struct {
	Pos source.Pos
	// One call: the tool and its arguments.
	Call *source.Node `yaml:"call"`
	// Several calls in one answer.
	Calls []*source.Node `yaml:"calls"`
	// The text of the answer. Without calls it ends the conversation.
	Say string `yaml:"say" example:"It is #42."`
}

// Call is a call that a script makes.
type Call struct {
	Pos  source.Pos
	Tool string
	Args jsonv.Value
}

// Made returns the calls of an answer.
func (a *Answer) Made() (out []Call) {
	nodes := a.Calls
	if a.Call != nil {
		nodes = append([]*source.Node{a.Call}, nodes...)
	}
	for _, n := range nodes {
		for _, f := range n.Fields {
			args := jsonv.Object()
			if f.Value.Kind != source.KindNull {
				args = f.Value.JSON()
			}
			out = append(out, Call{f.Key.Pos, f.Key.Text, args})
		}
	}
	return out
}

// Conversation is the action of a test that lets a model use the tools of servers.
type Conversation struct {
	Keys
	Model string
	Mocks *manifest.Manifest // its tools are the mocked ones
	// Refusals is set if an assertion examines what a server refused.
	Refusals, Stops bool
	refused         []string // see Examines
}

// Name is the model.
func (c Conversation) Name() string { return "model " + c.Model }

// Plan says that the model is asked.
func (c Conversation) Plan() string { return "let the model " + c.Model + " use the tools" }

// Connects is true: tools are listed and called in a session.
func (Conversation) Connects() bool { return true }

// Refuses nothing.
func (Conversation) Refuses(bool) (why, hint string) { return "", "" }

// Split returns an entry for each model of an entry. With several, the name of the
// model is a part of the name of the test.
func Split(n *source.Node) []*source.Node {
	models := n.Get("model")
	if models == nil || len(models.Items) < 2 {
		return []*source.Node{n}
	}
	var out []*source.Node
	for _, m := range models.Items {
		one := *n
		one.Fields = slices.Clone(n.Fields)
		for i, f := range one.Fields {
			switch f.Key.Text {
			case "model":
				one.Fields[i].Value = m
			case "name":
				name := *f.Value
				name.Text += " (" + m.Text + ")"
				one.Fields[i].Value = &name
			}
		}
		out = append(out, &one)
	}
	return out
}

// Action checks the keys of an entry, of one model, and returns what the test does.
func (k *Keys) Action(n *source.Node, path string, d *source.Decoder) Conversation {
	c := Conversation{Keys: *k}
	if len(k.Model) > 0 {
		c.Model = k.Model[0]
	} else if len(k.Script) > 0 {
		c.Model = Script
	}
	switch {
	case c.Model == "" && n.Kind == source.KindMap:
		d.Errorf(n, path, `missing key "model"`).Hint = "name one of models:, or write script: and what it answers"
	case c.Model == Script && len(k.Script) == 0:
		d.Errorf(n, path, `missing key "script": what the model script answers`)
	}
	c.Turns = cmp.Or(c.Turns, 10)
	for i, a := range k.Script {
		isLast := i == len(k.Script)-1
		a.check(n.Get("script").Items[i], source.PathIndex(path+".script", i), isLast, d)
	}
	if len(k.Script) > c.Turns && c.Model == Script {
		surplus := n.Get("script").Items[c.Turns]
		d.Errorf(surplus, source.PathIndex(path+".script", c.Turns),
			"the script has %d answers, turns: allows %d: the rest would never be given", len(k.Script), c.Turns)
	}
	if k.Mock != nil {
		c.Mocks = decodeMocks(k.Mock, path+".mock", d)
	}
	for i, name := range k.AllowWrites {
		if strings.Contains(name, "*") {
			d.Errorf(n.Get("allow_writes").Items[i], source.PathIndex(path+".allow_writes", i), "%q is a pattern; tools that may write are named exactly", name)
		}
	}
	c.Refusals, c.Stops = examines(n.Get("expect"), "refused", "text", "result"), examines(n.Get("expect"), "stop")
	c.refused = listRefusedTargets(n.Get("expect"))
	return c
}

// check reports an answer that is neither a call nor a text, and a text that ends the
// conversation before the last answer.
func (a *Answer) check(n *source.Node, path string, last bool, d *source.Decoder) {
	if a == nil || n.Kind != source.KindMap {
		return
	}
	if a.Call != nil && a.Calls != nil {
		d.Errorf(n, path, "call: and calls: exclude each other")
	}
	for _, c := range append(slices.Clone(a.Calls), a.Call) {
		if c != nil && (c.Kind != source.KindMap || len(c.Fields) != 1) {
			d.Errorf(c, path, "expected one call: {TOOL: {ARGUMENT: VALUE}}")
		}
	}
	calls := a.Made()
	for _, c := range calls {
		if c.Args.Kind() != jsonv.KindObject {
			msg := fmt.Sprintf("the arguments of %s are not a map", c.Tool)
			d.Add(source.Diagnostic{Pos: c.Pos, Path: path, Msg: msg})
		}
	}
	switch {
	case len(calls) == 0 && a.Say == "":
		d.Errorf(n, path, "an answer is call:, calls: or say:")
	case len(calls) == 0 && !last:
		d.Errorf(n, path, "an answer without a call ends the conversation; the answers after it would never be given")
	}
}

// decodeMocks compiles the responses of mocked tools.
func decodeMocks(n *source.Node, path string, d *source.Decoder) *manifest.Manifest {
	if n.Kind != source.KindMap {
		d.ReportWrongType(n, path, "a map of tools and their responses")
		return nil
	}
	for _, f := range n.Fields {
		for _, key := range []string{"steps", "delay", "raw", "messages"} {
			if v := f.Value.Get(key); v != nil {
				d.Errorf(v, source.PathKey(path, f.Key.Text)+"."+key, "a mocked tool has no %s: nothing is sent", key)
				return nil
			}
		}
	}
	return manifest.Mocked(n, path, d)
}

// examines reports whether a target of an expectation is stop, or examines a member of
// calls.
func examines(n *source.Node, words ...string) bool {
	if n == nil {
		return false
	}
	for _, f := range n.Fields {
		isTarget := func(w string) bool {
			return f.Value.Text == w || strings.HasSuffix(f.Value.Text, "."+w)
		}
		if f.Key.Text == "target" && slices.ContainsFunc(words, isTarget) {
			return true
		}
		if examines(f.Value, words...) {
			return true
		}
	}
	return slices.ContainsFunc(n.Items, func(item *source.Node) bool { return examines(item, words...) })
}

// names is a name or a list of names.
type names []string

// DecodeNode reads a name or a list of names.
func (l *names) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	var one string
	if !d.DecodeOneOrMany(n, path, (*[]string)(l), &one, "expected a model's name or a list of names, got an empty list") {
		*l = names{one}
	}
}
