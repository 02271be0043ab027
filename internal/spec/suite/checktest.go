package suite

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mcptest/internal/assert/target"
	"mcptest/internal/base/display"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/repeat"
	"mcptest/internal/spec/suite/lint"
)

// checker checks combinations of a test's keys.
type checker struct{ d *source.Decoder }

// subject lists the keys that select what a test of each block invokes.
var subject = map[Block][]string{
	Tools: {"tool"}, Resources: {"uri"}, Prompts: {"prompt"}, Protocol: {"method", "raw"},
}

// subjects lists the subjects of all blocks: a step may use any of them.
var subjects = []string{"tool", "uri", "prompt", "method", "raw"}

// goesWith lists the subjects that each key of an invocation can be combined with.
var goesWith = map[string][]string{
	"args": {"tool", "prompt"}, "params": {"method"}, "notification": {"method"}, "invalid_args": {"tool", "uri", "prompt"},
}

func (c checker) test(t *Test, n *source.Node) {
	if n.Get("steps") == nil {
		c.checkInvocation(n, t.Path, subject[t.Block], t.Call, true)
		c.checkTiming(n, t.Path, t.Call, t.CancelAfter, t.Wait, t.Until)
	} else {
		c.checkFlow(t, n)
	}
	if s := n.Get("same_as"); s != nil && (!t.Call.calls() || t.Call.Raw != nil || t.Call.Notification) {
		c.d.Errorf(s, t.Path+".same_as", "same_as: needs a test with exactly one request")
	} else if s != nil && t.Call.Method != "" && s.Get("prefix") != nil {
		c.d.Errorf(s.Get("prefix"), t.Path+".same_as.prefix", "prefix: goes with tool:, uri: and prompt:, not with method:")
	}
	c.checkCommon(t, n)
}

// checkFlow checks a test with steps.
func (c checker) checkFlow(t *Test, n *source.Node) {
	for _, key := range append(slices.Clone(subject[t.Block]), "args", "params", "notification", "wait", "until", "cancel_after") {
		if v := n.Get(key); v != nil {
			c.d.Errorf(v, t.Path+"."+key, "%s: belongs in one of the steps if a test has steps:", key)
		}
	}
	list := n.Get("steps")
	if list.Kind == source.KindList && len(list.Items) == 0 {
		c.d.Errorf(list, t.Path+".steps", "a flow needs at least one step")
	}
	c.checkSteps(t.Steps, listItems(list), t.Path+".steps")
}

func (c checker) checkSteps(list []*FlowStep, written []*source.Node, path string) {
	captures := map[string]source.Pos{}
	for i, s := range list {
		path := source.PathIndex(path, i)
		if s == nil {
			c.d.ReportWrongType(written[i], path, "a step: a map of keys (tool, expect, …)")
			continue
		}
		s.Path = path
		if written[i].Kind == source.KindMap {
			c.step(s, written[i], captures)
		}
	}
}

// StepsOf returns the steps of a flow, or those after a conversation; nil if a test has
// none.
func StepsOf(test *source.Node) (steps *source.Node, key string) {
	if then := test.Get("then"); then != nil {
		return then, "then"
	}
	return test.Get("steps"), "steps"
}

func (c checker) step(s *FlowStep, n *source.Node, captures map[string]source.Pos) {
	c.checkInvocation(n, s.Path, subjects, s.Invocation, false)
	c.checkTiming(n, s.Path, s.Invocation, s.CancelAfter, s.Wait, s.Until)
	if v := n.Get("server"); v != nil && v.Kind == source.KindString && v.Text == "" {
		c.d.Errorf(v, s.Path+".server", "the name is empty")
	}
	for _, e := range s.Capture.Entries {
		path := source.PathKey(s.Path+".capture", e.Key)
		first, twice := captures[e.Key]
		switch {
		case strings.TrimSpace(e.Key) == "":
			c.d.ErrorAt(e.Pos, path, "a captured value needs a name", "")
		case twice:
			c.d.Add(source.Diagnostic{
				Pos: e.Pos, Path: path, Msg: fmt.Sprintf("%q is captured twice in this flow", e.Key),
				Related: []source.Related{{Pos: first, Msg: "first captured here"}},
			})
		default:
			captures[e.Key] = e.Pos
		}
	}
}

// checkSubject checks that exactly one subject is given, with keys that it can have.
func (c checker) checkSubject(n *source.Node, path string, known []string, orSteps bool) {
	var has []string
	for _, key := range known {
		if n.Get(key) != nil {
			has = append(has, key)
		}
	}
	switch {
	case len(has) == 0 && orSteps && needsNoCall(n):
		for _, key := range []string{"args", "params", "notification", "wait", "until", "cancel_after", "invalid_args"} {
			if v := n.Get(key); v != nil {
				c.d.Errorf(v, path+"."+key, "%s: requires a call, and this test makes none", key)
			}
		}
	case len(has) == 0 && isMisplaced(n, known):
		// A misspelled key was reported; don't report the missing one too.
	case len(has) == 0:
		msg := "missing key " + joinQuoted(known) + ": what to invoke"
		if orSteps {
			msg += " (or steps: for a flow)"
		}
		d := c.d.Errorf(n, path, "%s", msg)
		d.Code = "missing-key"
		if orSteps && slices.ContainsFunc(listExaminedRoots(n.Get("expect")), isOffered) {
			d.Hint = "a test without a call examines only the targets surface and server"
		}
	case len(has) > 1:
		c.d.Errorf(n.Get(has[1]), path, "has %s; expected exactly one", strings.Join(addColons(has), " and "))
	default:
		for _, key := range []string{"args", "params", "notification", "invalid_args"} {
			v := n.Get(key)
			if v != nil && slices.Contains(known, goesWith[key][0]) && !slices.Contains(goesWith[key], has[0]) {
				c.d.Errorf(v, path+"."+key, "%s: goes with %s, not with %s:", key, strings.Join(addColons(goesWith[key]), " and "), has[0])
			}
		}
	}
}

// checkWrongArguments reports that arguments must be a map, with a hint of what is meant.
func (c checker) checkWrongArguments(call Invocation, path string) {
	args := call.Args
	diag := c.d.ReportWrongType(args, path, "a map of arguments")
	word, rest, isPair := strings.Cut(args.Text, ":")
	switch {
	case isPair && !args.Quoted && lint.IsName(word):
		diag.Hint = source.SpacedHint(word, rest)
	case strings.HasPrefix(args.Text, "{"):
		diag.Hint = "without quotes: args: " + display.Truncate(args.Text, 60)
	case len(args.Items) > 0 && diag.Hint == "":
		diag.Hint = "write each value behind the name of its parameter: args: {NAME: " + args.Items[0].Inline() + "}; mcptest tools " + call.Tool + " -- COMMAND (or --url URL) shows the names, with the command of the server"
	}
}

// checkInvocation checks that exactly one subject is given, and that the other keys can
// be combined with it.
func (c checker) checkInvocation(n *source.Node, path string, known []string, call Invocation, orSteps bool) {
	c.checkSubject(n, path, known, orSteps)
	if call.Args != nil && call.Args.Kind != source.KindMap {
		c.checkWrongArguments(call, path+".args")
	}
	if prompt := n.Get("prompt"); prompt != nil && call.Args != nil && !isTrue(n.Get("invalid_args")) {
		CheckPromptArguments(call.Args, path+".args", c.d)
	}
	if call.Raw != nil {
		if _, ok := call.Raw.AsText(); !ok {
			d := c.d.ReportWrongType(call.Raw, path+".raw", "text, the bytes to send")
			d.Hint = "put it in quotes, or behind raw: |"
		}
	}
	for _, key := range known {
		if v := n.Get(key); v != nil && key != "raw" && v.Kind == source.KindString && v.Text == "" {
			c.d.Errorf(v, path+"."+key, "%s is empty", key)
		}
	}
}

func isTrue(n *source.Node) bool { return n != nil && n.Kind == source.KindBool && n.Text == "true" }

// CheckPromptArguments reports arguments of a prompt that are no text: MCP has no others.
func CheckPromptArguments(args *source.Node, path string, dec *source.Decoder) {
	for _, f := range args.Fields {
		n := f.Value
		if _, _, slip := source.SplitUnspaced(f.Key, n); slip {
			continue
		}
		if _, text := n.AsText(); text { // so is a number that replaced a placeholder
			continue
		}
		hint := `write it in quotes: ` + f.Key.Text + `: "` + n.Inline() + `"`
		switch n.Kind {
		case source.KindNull:
			hint = `leave the argument out, or write ""`
		case source.KindList, source.KindMap:
			hint = "write the text that the server expects, such as JSON in quotes"
		}
		at := source.PathKey(path, f.Key.Text)
		d := dec.Errorf(n, at, "the argument %q of a prompt is text, got %s", f.Key.Text, n.Describe())
		d.Hint = hint + "; invalid_args: true says that this is intended"
	}
}

// needsNoCall reports whether all targets of a test describe what the server
// offers, so that it needs no call.
func needsNoCall(n *source.Node) bool {
	roots := listExaminedRoots(n.Get("expect"))
	return len(roots) > 0 && !slices.ContainsFunc(roots, func(root string) bool { return !isOffered(root) })
}

// isOffered reports whether a root of targets describes what the server offers.
func isOffered(root string) bool { return root == "surface" || root == "server" }

// listExaminedRoots returns the roots of the targets of an expect: value; "" for an invalid
// target.
func listExaminedRoots(n *source.Node) (roots []string) {
	if n == nil {
		return nil
	}
	for _, f := range n.Fields {
		if f.Key.Text == "target" {
			t, err := target.Parse(f.Value.Text)
			if err != nil && (strings.HasPrefix(f.Value.Text, "surface") || strings.HasPrefix(f.Value.Text, "server")) {
				roots = append(roots, "surface") // its mistake is reported with the target
				continue
			}
			if err != nil {
				return []string{""}
			}
			roots = append(roots, t.Root())
		}
		if f.Key.Text != "matcher" {
			roots = append(roots, listExaminedRoots(f.Value)...)
		}
	}
	for _, item := range n.Items {
		roots = append(roots, listExaminedRoots(item)...)
	}
	return roots
}

// isMisplaced reports whether a test without a subject has the subject of another
// block or a misspelled one; both were reported.
func isMisplaced(n *source.Node, known []string) bool {
	return slices.ContainsFunc(n.Fields, func(f source.Field) bool {
		if near, _ := source.GuessKey(f.Key, f.Value, subjects); near != "" {
			return true
		}
		key := f.Key.Text
		return key == "call" || slices.Contains(subjects, key) ||
			slices.Contains(known, source.FindNearest(key, subjects))
	})
}

// checkTiming checks cancel_after, wait and until.
func (c checker) checkTiming(
	n *source.Node, path string, call Invocation, cancel *time.Duration, wait *Wait, until *Until,
) {
	at := n.Get("until")
	switch {
	case until == nil:
	case call.Raw != nil || call.Notification:
		c.d.Errorf(at, path+".until", "until: repeats a request, and this sends none")
	case cancel != nil || wait != nil:
		c.d.Errorf(at, path+".until", "until: can't be used with wait: or cancel_after:")
	}
	if cancel != nil && (call.Raw != nil || call.Notification) {
		what := "raw:"
		if call.Raw == nil {
			what = "a notification"
		}
		c.d.Errorf(n.Get("cancel_after"), path+".cancel_after", "nothing to cancel: %s sends no request", what)
	}
	if wait == nil {
		return
	}
	w := n.Get("wait")
	if v := w.Get("notification"); v != nil && v.Kind == source.KindString && v.Text == "" {
		c.d.Errorf(v, path+".wait.notification", "the method is empty")
	}
}

func (c checker) checkCommon(t *Test, n *source.Node) {
	if v := n.Get("name"); v != nil && v.IsScalar() && v.Kind != source.KindNull && strings.TrimSpace(v.Text) == "" {
		c.d.Errorf(v, t.Path+".name", "the name is empty")
	}
	checkReason(n, t.Path, c.d)
	checkTags(n, t.Path, t.Tags, c.d)
	repeat.Check(t.Repeat, t.Trials, t.Retries, n, t.Path, c.d)
	if t.Transform != nil {
		c.d.ErrorAt(t.Transform.Pos, t.Path+".transform", "transform is reserved for a later version", "remove it")
	}
}

// checkReason reports an empty expect_failure, which would have no effect.
func checkReason(n *source.Node, path string, d *source.Decoder) {
	if v := n.Get("expect_failure"); v != nil && v.Kind == source.KindString && strings.TrimSpace(v.Text) == "" {
		d.Errorf(v, path+".expect_failure", "the reason is empty")
	}
}

func checkTags(n *source.Node, path string, tags []string, d *source.Decoder) {
	list := n.Get("tags")
	for i, tag := range tags {
		if strings.TrimSpace(tag) == "" && list != nil && i < len(list.Items) && list.Items[i].Kind == source.KindString {
			d.Errorf(list.Items[i], source.PathIndex(path+".tags", i), "the tag is empty")
		}
	}
}

func joinQuoted(words []string) string {
	q := slices.Clone(words)
	for i := range q {
		q[i] = `"` + q[i] + `"`
	}
	return display.Alternatives(q, "or")
}

func addColons(words []string) []string {
	out := slices.Clone(words)
	for i := range out {
		out[i] += ":"
	}
	return out
}
