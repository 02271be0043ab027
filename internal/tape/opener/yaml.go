package opener

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/client/identity"
	"mcptest/internal/offer/opening"
)

// Script is what a file says of an opening apart from its frames.
type Script struct {
	Client    string // "": by the name that the client gave itself
	Transport string
	Reads     string // "": those of a known client, or plain
	Source    string
	Seen      time.Time
}

// Name is what the client calls itself.
func (o *Opening) Name() string { return o.Info.Lookup("name").Text() }

// Resolve fills in what the recording says: which client it is, and how it reads answers if it
// is a known one.
func (o *Opening) Resolve(s Script) Script {
	s.Client = cmp.Or(s.Client, nameClient(o.Name()), makeSlug(o.Name()))
	if s.Reads != "" {
		return s
	}
	s.Reads = "plain"
	all, err := opening.Builtin()
	if err != nil {
		return s
	}
	for i := range all {
		if all[i].Client == s.Client {
			s.Reads = all[i].Reads
		}
	}
	return s
}

// nameClient returns the known client that calls itself by a name.
func nameClient(name string) string {
	for _, known := range identity.Names() {
		if p, _ := identity.Named(known); p.ClientName == name && name != "" {
			return known
		}
	}
	return ""
}

// noWord are the characters that the id of a client can't have.
var noWord = lazy.Regexp(`[^a-z0-9]+`)

// makeSlug makes an id of a name.
func makeSlug(name string) string {
	text := strings.Trim(noWord().ReplaceAllString(strings.ToLower(name), "-"), "-")
	return text[:min(len(text), 60)]
}

// FormatYAML writes the opening as a file of rules.
func (o *Opening) FormatYAML(s Script) []byte {
	var b strings.Builder
	version := o.Info.Lookup("version").Text()
	title := cmp.Or(o.Info.Lookup("title").Text(), o.Name(), s.Client)
	b.WriteString("# How a client opens a connection, as it was recorded. mcptest check --rules FILE replays it.\n")
	b.WriteString("# reads says how the client takes answers, which a recording of one server does not show.\n")
	b.WriteString("openings:\n")
	line := func(key string, value jsonv.Value) { fmt.Fprintf(&b, "    %s: %s\n", key, formatFlow(value)) }
	fmt.Fprintf(&b, "  - client: %s\n", formatScalar(s.Client))
	line("title", jsonv.String(title))
	fmt.Fprintf(&b, "    transport: %s\n    script: recorded\n    reads: %s\n", s.Transport, s.Reads)
	if version != "" {
		line("versions", jsonv.String(version))
	}
	line("source", jsonv.String(s.Source))
	fmt.Fprintf(&b, "    seen: %s\n", s.Seen.Format(time.DateOnly))
	if !o.Info.IsAbsent() {
		line("client_info", o.Info)
	}
	if !o.Capabilities.IsAbsent() {
		line("capabilities", o.Capabilities)
	}
	if o.Probe != nil {
		fmt.Fprintf(&b, "    probe: %s\n", formatFlow(o.Probe.buildValue()))
	}
	writeSteps(&b, "modern", o.Modern)
	writeSteps(&b, "legacy", o.Legacy)
	return []byte(b.String())
}

func writeSteps(b *strings.Builder, key string, steps []Step) {
	if len(steps) == 0 {
		return
	}
	fmt.Fprintf(b, "    %s:\n", key)
	for i := range steps {
		fmt.Fprintf(b, "      - %s\n", formatFlow(steps[i].buildValue()))
	}
}

// buildValue is a step as the file has it.
func (st *Step) buildValue() jsonv.Value {
	if st.Listen {
		return jsonv.ObjectOf("listen", true)
	}
	v := jsonv.ObjectOf("method", st.Method, "id", st.ID)
	if st.Version != "" {
		v = v.With("version", jsonv.String(st.Version))
	}
	if !st.Params.IsAbsent() {
		v = v.With("params", st.Params)
	}
	if st.When != "" {
		v = v.With("when", jsonv.String(st.When))
	}
	if st.Optional {
		v = v.With("optional", jsonv.From(true))
	}
	if st.WaitMS > 0 {
		v = v.With("wait_ms", jsonv.From(st.WaitMS))
	}
	return v
}

// timeless is a step without how long the client waited, which differs each time.
func (st *Step) timeless() jsonv.Value { return st.buildValue().Without("wait_ms") }

// plain are texts that YAML takes for themselves.
var plain = lazy.Regexp(`^[a-zA-Z_][a-zA-Z0-9_/-]*$`)

// words are texts that YAML takes for something else.
var words = lazy.Regexp(`^(?i:true|false|null|yes|no|on|off|y|n)$`)

// formatFlow writes a value in the flow style of YAML.
func formatFlow(v jsonv.Value) string {
	var parts []string
	switch v.Kind() {
	case jsonv.KindObject:
		for key, member := range v.Members() {
			parts = append(parts, formatScalar(key)+": "+formatFlow(member))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case jsonv.KindArray:
		for _, e := range v.Elems() {
			parts = append(parts, formatFlow(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case jsonv.KindString:
		return formatScalar(v.Text())
	}
	return v.String()
}

// formatScalar writes a text.
func formatScalar(text string) string {
	if plain().MatchString(text) && !words().MatchString(text) {
		return text
	}
	return display.JSON(jsonv.String(text).String())
}

// DescribeFrames are the frames of the opening as text, to compare it with others.
func (o *Opening) DescribeFrames() string {
	other := Opening{Info: o.Info, Capabilities: o.Capabilities, Probe: o.Probe, Modern: o.Modern, Legacy: o.Legacy}
	if o.Probe != nil {
		other.Probe = &Step{Method: o.Probe.Method, ID: o.Probe.ID, Params: o.Probe.Params}
	}
	return string(other.FormatYAML(Script{}))
}

// Describe names the client and its frames in one line.
func (o *Opening) Describe() string {
	var methods []string
	if o.Probe != nil {
		methods = append(methods, o.Probe.Method)
	}
	for _, steps := range [][]Step{o.Modern, o.Legacy} {
		for i := range steps {
			methods = append(methods, cmp.Or(steps[i].Method, "GET"))
		}
	}
	who := strings.TrimSpace(o.Name() + " " + o.Info.Lookup("version").Text())
	return strings.TrimPrefix(who+": "+strings.Join(methods, ", "), ": ")
}
