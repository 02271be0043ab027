package compat

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/report/gate"
)

// CheckKeys are the keys of the matcher check, and of an entry of `check:` that
// uses it.
type CheckKeys struct {
	// The clients and app directories; all clients when left out.
	For []string `yaml:"for" example:"[claude, openai]"`
	// The groups of rules; all when left out.
	Only []string `yaml:"only" enum:"clients|stores|lint|security"`
	// YAML files with profiles and rules.
	Rules []string `yaml:"rules" example:"[gateway.yml]"`
	// A YAML file with accepted findings.
	Baseline string `yaml:"baseline" example:"accepted.yml" schema:"minLength: 1"`
	// The lowest level that fails. Findings below it are warnings.
	FailOn Level `yaml:"fail_on" enum:"error|warning|advice" default:"error" example:"warning"`
	// The name under which users install the server, for limits on prefixed names.
	InstalledAs string `yaml:"installed_as" example:"api" schema:"minLength: 1"`
	// Other servers of the suite that users install with it: tools that can be mistaken for each other are found.
	InstalledWith []string `yaml:"installed_with" example:"[mail]"`
}

// Choice is the argument of the matcher check in suites.
type Choice struct {
	Pos       source.Pos
	CheckKeys `yaml:",inline"`

	rules Rules
	base  *gate.Baseline
}

// CheckSchema returns the JSON Schema of the matcher's argument.
func CheckSchema() string {
	var keys []string
	for _, f := range source.Fields(reflect.TypeFor[CheckKeys]()) {
		schema := `{"type":"string"}`
		if f.Enum != nil {
			schema = `{"enum":["` + strings.Join(f.Enum, `","`) + `"]}`
		}
		if f.Type.Kind() == reflect.Slice {
			schema = `{"type":"array","items":` + schema + `}`
		}
		keys = append(keys, strconv.Quote(f.Name)+":"+schema)
	}
	return `{"type":"object","additionalProperties":false,"properties":{` + strings.Join(keys, ",") + `}}`
}

// DecodeChoice reads a choice and the files that it names; nil if a mistake was
// reported. opened is called with the name of each file.
func DecodeChoice(n *source.Node, path string, d *source.Decoder, opened func(name string)) *Choice {
	before := d.Count()
	c := &Choice{CheckKeys: CheckKeys{FailOn: LevelError}, base: &gate.Baseline{}}
	d.Decode(n, path, c)
	if d.Count() > before {
		return nil
	}
	rules, err := Builtin()
	if err != nil {
		d.Errorf(n, path, "%v", err)
		return nil
	}
	for i, name := range c.Rules {
		item := n.Get("rules").Items[i]
		if f := d.ReadBeside(item, source.PathIndex(path+".rules", i), name, opened); f != nil {
			var ds source.Diagnostics
			rules, ds = rules.Load(f)
			d.Add(ds...)
		}
	}
	if c.Baseline != "" {
		if f := d.ReadBeside(n.Get("baseline"), path+".baseline", c.Baseline, opened); f != nil {
			var ds source.Diagnostics
			c.base, ds = gate.LoadBaseline(f, rules.Unknown)
			d.Add(ds...)
		}
	}
	for i, name := range c.For {
		p, ok := rules.findProfile(name)
		if name != "all" && (!ok || !p.isChosenByFor()) {
			item := n.Get("for").Items[i]
			d.Errorf(item, source.PathIndex(path+".for", i), "unknown client or directory %q", name).Hint = source.DidYouMean(name, rules.Clients())
		}
	}
	if d.Count() > before {
		return nil
	}
	if c.rules, err = rules.Choose(c.For, c.Only, false); err != nil {
		d.Errorf(n, path, "%v", err)
		return nil
	}
	return c
}

// maxNotices bounds the number of findings that become warnings of a test.
const maxNotices = 20

// Run checks the lists of a server. ask returns the lists for the clients and of the
// servers that Others returns. failing describes the findings that fail the check,
// notices those below the level.
func (c *Choice) Run(
	ctx context.Context, offer jsonv.Value, ask func(context.Context) (map[string]jsonv.Value, error), today time.Time,
) (failing, notices []string, err error) {
	var others map[string]jsonv.Value
	if ask != nil {
		if others, err = ask(ctx); err != nil {
			return nil, nil, err
		}
	}
	main := Offered(offer)
	main.Installed = c.InstalledAs
	main.Server = cmp.Or(c.InstalledAs, offer.Lookup("server", "serverInfo", "name").Text())
	lists := []List{main}
	for _, name := range c.listClientNames() {
		own := main
		if other, asked := others[name]; asked {
			own = Offered(other)
		}
		own.Server, own.Installed, own.Profiles = main.Server, main.Installed, c.profilesOf(name)
		lists = append(lists, own)
	}
	if len(lists) > 1 {
		lists[0].Profiles = c.profilesOf("")
	}
	for _, name := range c.InstalledWith {
		other := Offered(others[name])
		other.Server = name
		if name == main.Server {
			other.Server += " (of the suite)"
		}
		lists = append(lists, other)
	}
	rep, err := Check(ctx, lists, c.rules, today)
	if err != nil {
		return nil, nil, err
	}
	if len(main.Tools) == 0 {
		notices = append(notices, "the server lists no tools: the rules on tools examined nothing")
	}
	rep.places = slices.DeleteFunc(rep.places, func(f Finding) bool { return f.Server != main.Server })
	for _, f := range rep.Accept(c.base, c.rules).Findings {
		place := strings.TrimSpace(cmp.Or(f.Tool, f.Subject) + " " + f.Pointer)
		line := fmt.Sprintf("%s: %s: %s (%s, %s)", f.Profile, place, f.Message, f.Effect, f.Rule)
		if (Report{Findings: []Finding{f}}).Failed(c.FailOn) {
			failing = append(failing, line)
		} else {
			notices = append(notices, line)
		}
	}
	if n := len(notices) - maxNotices; n > 0 {
		notices = append(notices[:maxNotices:maxNotices], fmt.Sprintf("and %d more findings; mcptest check prints all", n))
	}
	return failing, notices, nil
}

// Offered returns the list of a surface.
func Offered(offer jsonv.Value) List {
	l := List{Tools: offer.Lookup("tools").List()}
	for _, kind := range []struct{ member, subject, key string }{
		{"resources", "resource ", "uri"}, {"resourceTemplates", "resource template ", "uriTemplate"}, {"prompts", "prompt ", "name"},
	} {
		for _, def := range offer.Lookup(kind.member).Elems() {
			l.Others = append(l.Others, Definition{Subject: kind.subject + def.Lookup(kind.key).Text(), Def: def})
		}
	}
	l.Others = append(l.Others, Instructions(offer.Lookup("server"))...)
	return l
}

// Instructions returns the instructions in a handshake, if there are any.
func Instructions(handshake jsonv.Value) []Definition {
	text := handshake.Lookup("instructions")
	if text.IsAbsent() {
		return nil
	}
	return []Definition{{Subject: "instructions", Def: jsonv.ObjectOf("instructions", text)}}
}

// Others returns the names of clients to connect with as well, since some servers
// return different tools to them, and the names of servers to query as well.
func (c *Choice) Others() (clients, servers []string) { return c.listClientNames(), c.InstalledWith }

// listClientNames returns the names of the chosen clients that have a client name.
func (c *Choice) listClientNames() (names []string) {
	for _, p := range c.rules.Profiles {
		if p.Client != "" && slices.Contains(c.For, p.Name) && !slices.Contains(names, p.Client) {
			names = append(names, p.Client)
		}
	}
	return names
}

// profilesOf returns the profiles that get the list for a client's name.
func (c *Choice) profilesOf(client string) []string {
	names := []string{}
	for _, p := range c.rules.Profiles {
		if p.Client == client {
			names = append(names, p.Name)
		}
	}
	return names
}
