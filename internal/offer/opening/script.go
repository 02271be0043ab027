package opening

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/client/identity"
	"mcptest/internal/client/protocol"
)

// Transports of scripts.
const (
	Stdio = "stdio"
	HTTP  = "http"
)

// Lifetime is how long an observation counts: clients change how they open a connection
// more often than anything else.
const Lifetime = 180 * 24 * time.Hour

// A Script is how one client opens a connection over one transport.
type Script struct {
	Pos       source.Pos
	Client    string `yaml:"client,required"` // a profile of package identity, or any name with the next two
	Title     string `yaml:"title,required"`
	Transport string `yaml:"transport,required" enum:"stdio|http"`
	Name      string `yaml:"script,required"` // tells the scripts of a client and transport apart
	Reads     string `yaml:"reads,required"`  // a row of reading.go
	Level     string `yaml:"level" enum:"error|warning"`
	Versions  string `yaml:"versions"`
	Source    string `yaml:"source,required"`
	Seen      string `yaml:"seen,required"` // the day on which the frames were last seen

	Info         jsonv.Value `yaml:"client_info"`  // of a client without a profile
	Capabilities jsonv.Value `yaml:"capabilities"` // of a client without a profile

	Probe  *Step  `yaml:"probe"`
	Modern []Step `yaml:"modern"`
	Legacy []Step `yaml:"legacy"`
}

// A Step is one frame of a script.
type Step struct {
	Method   string      `yaml:"method"`
	ID       jsonv.Value `yaml:"id"`      // absent: a notification
	Version  string      `yaml:"version"` // of initialize
	Params   jsonv.Value `yaml:"params"`  // absent: none, or those that the method needs
	When     string      `yaml:"when"`    // only if the server declares this capability
	Optional bool        `yaml:"optional"`
	Listen   bool        `yaml:"listen"`                  // opens the stream of the session (HTTP GET) in place of a frame
	WaitMS   int         `yaml:"wait_ms" range:"0-60000"` // goes on after this time without an answer; 0: waits
}

//go:embed openings.yaml
var builtin []byte

// Builtin returns the built-in scripts.
var Builtin = sync.OnceValues(func() ([]Script, error) {
	node, ds := source.Parse(&source.File{Name: "openings.yaml", Data: builtin})
	var all struct {
		Openings []Script `yaml:"openings"`
	}
	if !ds.HasErrors() {
		var d source.Decoder
		d.Decode(node, "", &all)
		Check(all.Openings, node, &d)
		ds = append(ds, d.Diagnostics()...)
	}
	if ds.HasErrors() {
		return nil, fmt.Errorf("built-in openings: %s", ds[0].Msg)
	}
	return all.Openings, nil
})

// Check reports mistakes in scripts that the types of their members do not exclude. The
// scripts are the list openings of a document.
func Check(scripts []Script, doc *source.Node, d *source.Decoder) {
	for i := range scripts {
		s := &scripts[i]
		at := doc.Get("openings").Items[i]
		report := func(key, format string, args ...any) {
			n := at
			if inner := at.Get(key); inner != nil {
				n = inner
			}
			d.Errorf(n, source.PathIndex("openings", i)+"."+key, format, args...)
		}
		same := func(o Script) bool {
			return o.Client == s.Client && o.Transport == s.Transport && o.Name == s.Name
		}
		if slices.ContainsFunc(scripts[:i], same) {
			report("script", "duplicate script %q of %s over %s", s.Name, s.Client, s.Transport)
		}
		s.check(report)
	}
}

// check reports the mistakes of one script.
func (s *Script) check(report func(key, format string, args ...any)) {
	if _, known := identity.Named(s.Client); !known && s.Info.Kind() != jsonv.KindObject {
		report("client_info", "%q is not a client that mcptest knows (%s): client_info must say its name and version",
			s.Client, source.Known(s.Client, identity.Names()))
	}
	if _, err := time.Parse(time.DateOnly, s.Seen); err != nil && s.Seen != "" {
		report("seen", "expected a day such as 2026-08-05, got %q", s.Seen)
	}
	if len(s.Legacy) == 0 && (s.Probe == nil || len(s.Modern) == 0) {
		report("legacy", "a script must have the list legacy, or probe and modern")
	}
	if !slices.Contains(readings, s.Reads) {
		report("reads", "expected one of %s, got %q", strings.Join(readings, ", "), s.Reads)
	}
	if s.Probe != nil && (s.Probe.Method == "" || s.Probe.ID.IsAbsent()) {
		report("probe", "a probe must have method and id")
	}
	checkSteps("modern", s.Modern, report)
	checkSteps("legacy", s.Legacy, report)
}

// checkSteps reports the mistakes of a list of steps.
func checkSteps(key string, steps []Step, report func(key, format string, args ...any)) {
	for i := range steps {
		if problem := steps[i].findProblem(); problem != "" {
			report(key, "step %d: %s", i+1, problem)
		}
	}
}

// findProblem says what is wrong with a step, "" for nothing.
func (st *Step) findProblem() string {
	switch {
	case st.Listen && st.Method != "":
		return "either method or listen, not both"
	case !st.Listen && st.Method == "":
		return "method is missing"
	case st.Method == "tools/call":
		return "tools are not called by openings"
	case !st.Listen && st.ID.IsAbsent() != strings.HasPrefix(st.Method, "notifications/"):
		return st.Method + ": a request must have an id, a notification has none"
	case !st.ID.IsAbsent() && st.ID.Kind() != jsonv.KindString && st.ID.Kind() != jsonv.KindNumber:
		return st.Method + ": id must be a number or a text"
	case !st.Params.IsAbsent() && st.Params.Kind() != jsonv.KindObject:
		return st.Method + ": params must be a map"
	}
	return ""
}

// Rule is the id of the rule about the client and transport of a script.
func (s *Script) Rule() string { return "opening-" + s.Client + "-" + s.Transport }

// Expired reports whether the script was last seen too long ago.
func (s *Script) Expired(today time.Time) bool {
	seen, err := time.Parse(time.DateOnly, s.Seen)
	return err == nil && today.After(seen.Add(Lifetime+24*time.Hour))
}

// Expires is the last day on which the script counts.
func (s *Script) Expires() string {
	seen, _ := time.Parse(time.DateOnly, s.Seen)
	return seen.Add(Lifetime).Format(time.DateOnly)
}

// Family is the profile of check's rules that stands for a client and its relatives.
func Family(client string) string {
	switch client {
	case "claude-code", "claude-desktop", "claude-ai":
		return "claude"
	case "codex", "chatgpt":
		return "openai"
	case "gemini-cli":
		return "gemini"
	}
	return client
}

// makeClient returns what the client says of itself.
func (s *Script) makeClient() (info, capabilities jsonv.Value) {
	info, capabilities = s.Info, s.Capabilities
	if p, known := identity.Named(s.Client); known {
		if info.IsAbsent() {
			info = jsonv.ObjectOf("name", p.ClientName)
			if p.ClientTitle != "" {
				info = info.With("title", jsonv.String(p.ClientTitle))
			}
			info = info.With("version", jsonv.String(p.ClientVersion))
		}
		if capabilities.IsAbsent() {
			capabilities, _ = jsonv.Parse([]byte(p.Capabilities))
		}
	}
	if capabilities.IsAbsent() {
		capabilities = jsonv.Object()
	}
	return info, capabilities
}

// makeParams returns the parameters of a step.
func (s *Script) makeParams(st *Step, modern bool) jsonv.Value {
	info, capabilities := s.makeClient()
	params := st.Params
	if st.Method == "initialize" {
		if params.IsAbsent() {
			params = jsonv.Object()
		}
		version := st.Version
		if version == "" {
			version = protocol.Newest(protocol.EraSession).Name
		}
		params = params.With("protocolVersion", jsonv.String(version))
		params = params.With("capabilities", capabilities).With("clientInfo", info)
	}
	if modern {
		if params.IsAbsent() {
			params = jsonv.Object()
		}
		meta := jsonv.ObjectOf(
			protocol.MetaVersion, stateless(),
			protocol.MetaClient, info,
			protocol.MetaCapabilities, capabilities,
		)
		for key, own := range params.Lookup("_meta").Members() {
			meta = meta.With(key, own)
		}
		params = params.With("_meta", meta)
	}
	return params
}

// stateless is the newest revision without sessions.
func stateless() string { return protocol.Newest(protocol.EraStateless).Name }

// makeFrame returns the bytes of a step.
func (s *Script) makeFrame(st *Step, modern bool) []byte {
	return jsonv.ObjectOf(
		"jsonrpc", "2.0",
		"id", st.ID,
		"method", st.Method,
		"params", s.makeParams(st, modern),
	).Append(nil)
}

// Respond returns the client's response to a request of the server.
func (s *Script) Respond(request jsonv.Value) []byte {
	id, method := request.Lookup("id").OrNull(), request.Lookup("method").Text()
	_, capabilities := s.makeClient()
	switch {
	case method == "ping":
		return jsonv.ObjectOf("jsonrpc", "2.0", "id", id, "result", jsonv.Object()).Append(nil)
	case method == "roots/list" && !capabilities.Lookup("roots").IsAbsent():
		return jsonv.ObjectOf("jsonrpc", "2.0", "id", id, "result", jsonv.ObjectOf("roots", jsonv.Array())).Append(nil)
	}
	return jsonv.ObjectOf("jsonrpc", "2.0", "id", id,
		"error", jsonv.ObjectOf("code", protocol.CodeMethodNotFound, "message", "Method not found")).Append(nil)
}

// Describe returns the frames of the script, a line each.
func (s *Script) Describe() (lines []string) {
	add := func(title string, steps []Step) {
		if len(steps) == 0 {
			return
		}
		var names []string
		for i := range steps {
			names = append(names, steps[i].describe())
		}
		lines = append(lines, title+strings.Join(names, ", "))
	}
	if s.Probe != nil {
		add("first: ", []Step{*s.Probe})
		add("then, if the server speaks "+stateless()+": ", s.Modern)
		add("otherwise: ", s.Legacy)
		return lines
	}
	add("sends: ", s.Legacy)
	return lines
}

// describe is "initialize (id 0, 2025-11-25)".
func (st *Step) describe() string {
	if st.Listen {
		return "GET"
	}
	var facts []string
	if !st.ID.IsAbsent() {
		facts = append(facts, "id "+st.ID.String())
	}
	if st.Version != "" {
		facts = append(facts, st.Version)
	}
	if st.When != "" {
		facts = append(facts, "if "+st.When+" is declared")
	}
	if len(facts) == 0 {
		return st.Method
	}
	return st.Method + " (" + strings.Join(facts, ", ") + ")"
}
