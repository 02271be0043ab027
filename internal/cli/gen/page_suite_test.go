package gen

import (
	"slices"
	"strings"
)

// section is one heading of the page about suites.
type section struct {
	title, intro string
	defs         []string // the definitions whose keys it lists
	common       bool     // only keys that all of them have
}

// sections are the headings, in the order of the page. Every definition is in
// one of them, or has a tag title: a test sees to it.
var sections = []section{
	{"A suite", "One YAML document. Unknown keys are errors everywhere.", []string{"suite"}, false},
	{"A variable", "`variables.<name>` is a value, or a map that takes it from the environment:", []string{"suite variables entry"}, false},
	{"A server", "`servers.<name>` has exactly one of `command` and `url`; one with `variants` may leave that to them.", []string{"server"}, false},
	{"A bundle", "`servers.<name>.command` is a map for a server in a bundle (.mcpb); see [Test a bundle](../guides/bundles.md).", []string{"bundle-command"}, false},
	{"A header", "`servers.<name>.headers.<name>` is a value, or a map:", []string{"server headers entry"}, false},
	{"A variant", "`servers.<name>.variants.<variant>` is a server called `<name>@<variant>`; these keys differ, the others are those of the server.", []string{"variant"}, false},
	{"The client", "`client` of a server or a variant: what mcptest claims to be.", []string{"client"}, false},
	{"The capabilities of the client", "`client.capabilities`", []string{"client-capabilities"}, false},
	{"Authentication", "`servers.<name>.auth`", []string{"auth"}, false},
	{"OAuth", "`servers.<name>.auth.oauth`", []string{"oauth"}, false},
	{"TLS", "`servers.<name>.tls`", []string{"tls"}, false},
	{"An upstream", "`upstreams.<name>`: an API behind the servers, which a test double replaces. See [upstreams](../guides/upstreams.md).", []string{"upstream"}, false},
	{"The address of a double", "`upstreams.<name>.into` has at least one of `env`, `arg` and `header`.", []string{"upstream-into"}, false},
	{"A route", "One entry of `upstreams.<name>.routes`, or of `upstream.<name>` of a test.", []string{"route"}, false},
	{"What a route matches", "`match` of a route.", []string{"route-match"}, false},
	{"A response of an upstream", "`reply` of a route, or one of a list. At most one of the bodies `json`, `text`, `file`, `base64`, `chunks` and `sse`. In texts `{{path.NAME}}`, `{{query.NAME}}`, `{{header.NAME}}`, `{{body.NAME}}` and `{{method}}` are values of the request.", []string{"reply"}, false},
	{"An event", "One of `sse` of a response.", []string{"reply-event"}, false},
	{"A model", "`models.<name>`: a language model that converses or grades. See [models](../guides/models.md).", []string{"model"}, false},
	{"The price of a model", "`models.<name>.price`", []string{"price"}, false},
	{"Any test", "The keys shared by tests of all lists. Each test also has one thing to invoke, or `steps`.", tests, true},
	{"A test of `tools`", "A `tools/call`.", []string{"tools-test"}, false},
	{"A test of `resources`", "A `resources/read`.", []string{"resources-test"}, false},
	{"A test of `prompts`", "A `prompts/get`.", []string{"prompts-test"}, false},
	{"A test of `protocol`", "Any request, sent unchanged, or bytes: `method` or `raw`.", []string{"protocol-test"}, false},
	{"A step of a flow", "`steps[]` of a test; it invokes one thing.", []string{"flow-step"}, false},
	{"The same call on another server", "`same_as` of a test with a call: [compare a gateway with the server behind it](../guides/gateways.md).", []string{"same-call"}, false},
	{"Repeating", "`repeat` of a test.", []string{"repeat"}, false},
	{"Trials", "`trials` of a test: [how a verdict is reached](../spec/trials.md).", []string{"trials"}, false},
	{"Waiting for a notification", "`wait` of a test or step.", []string{"wait"}, false},
	{"Repeating a call", "`until` of a test or step.", []string{"until"}, false},
	{"Capturing a part of a text", "An entry of `capture` of a step that is a map.", []string{"capture"}, false},
	{"Answering the server", "`respond` of a server, test or step. A capability without answers is not declared.", []string{"respond"}, false},
	{"A sampling answer", "One of `respond.sampling`: these keys, or a whole result, which has `content`.", []string{"sampling-answer"}, false},
	{"An elicitation answer", "One of `respond.elicitation`.", []string{"elicitation-answer"}, false},
	{"A root", "One of `respond.roots`.", []string{"root"}, false},
	{"What is expected", "`expect` is a list of assertions and assert-sets, or a map:", []string{"expect"}, false},
	{"An assertion", "One entry of `expect`. See [matchers](matchers.md) and [targets](targets.md).", []string{"assertion"}, false},
	{"An assert-set", "`- assert-set:` with these keys is one entry of `expect`. Sets do not nest.", []string{"assert-set-body"}, false},
	{"A derived metric", "One entry of `derivedMetrics`. Metrics are computed in the order in which they are declared. A `ref` to an unknown name counts as 0 with a warning; it fails the test if the metric has a threshold.", []string{"derived-metrics entry"}, false},
	{"The value of a metric", "`derivedMetrics[].value` has exactly one of these keys.", []string{"derived-metrics entry value"}, false},
	{"A reference of a metric", "One entry of `weighted_sum` or `weighted_average`.", []string{"metric-terms entry"}, false},
	{"Defaults of tests", "`defaultTest` is merged into every test that does not set `defaults: false`. Its items come after those of the test.", []string{"default-test"}, false},
	{"Hooks", "`hooks`: each phase is one hook or a list.", []string{"hooks"}, false},
	{"A hook", "A command as text, of which only the exit code is used, or a map:", []string{"hook"}, false},
	{"A fixture step", "One entry of `setup`, `setup_per_test` or `teardown`: exactly one of `run` and `call`.", []string{"step", "teardown-step"}, false},
	{"A tool call of a step", "`call` of a fixture step.", []string{"step-call"}, false},
	{"Coverage", "`coverage`. See [coverage](../guides/coverage.md).", []string{"coverage"}, false},
	{"Options of the run", "`run_options`", []string{"run-options"}, false},
}

var tests = []string{"tools-test", "resources-test", "prompts-test", "protocol-test"}

// keysIn lists the keys of a section, each once.
func keysIn(s section, keys []Key) []Key {
	count := map[string]int{}
	for _, k := range keys {
		for _, def := range tests {
			if k.Section == def {
				count[k.Name+k.Doc]++
			}
		}
	}
	var out []Key
	seen := map[string]bool{}
	for _, k := range keys {
		shared := count[k.Name+k.Doc] == len(tests)
		if seen[k.Name] || isTest(k.Section) && shared != s.common {
			continue
		}
		for _, def := range s.defs {
			if k.Section == def && !seen[k.Name] {
				seen[k.Name] = true
				out = append(out, k)
			}
		}
	}
	return out
}

// sections returns all sections: those of the types with a title follow the tests that
// call something.
func (g *generator) sections() []section {
	at := 1 + slices.IndexFunc(sections, func(s section) bool { return s.defs[0] == "protocol-test" })
	var titled []section
	for _, t := range g.titledTypes() {
		_, intro, _ := strings.Cut(g.comments[t.goName], " is ")
		if name := strings.TrimSuffix(intro, "."); !strings.Contains(name, " ") {
			intro = name // it is no sentence
		}
		titled = append(titled, section{t.title, strings.ToUpper(intro[:1]) + intro[1:], []string{t.def}, false})
	}
	return slices.Insert(slices.Clone(sections), at, titled...)
}

func suitePage(keys []Key, g *generator) []byte {
	sections := g.sections()
	p := newPage("Suite files", "Every key of a suite. `mcptest explain KEY` explains one of them. Editors show these texts if the file begins with\n\n"+
		"```yaml\n# yaml-language-server: $schema=./suite.schema.json\n```\n\n"+
		"and `mcptest schema > suite.schema.json` was run.\n\n"+
		"**Types.** A *duration* is a number with a unit: `500ms`, `30s`, `1m30s`. A *scalar* is text, a number, `true` or\n"+
		"`false`. `null`, also from a variable or a row, is the same as leaving out the key if the key has a default: durations,\n"+
		"thresholds, counts, switches. For text, a list or a map it is an error.\n\n"+
		"**Placeholders.** `${name}` in a value is replaced by a variable, or else by an environment variable; `${name:-default}` has a\n"+
		"default, `$${` is a literal `${`. A value that is exactly one `${name}` takes the variable's type, so a number may be\n"+
		"written `\"${limit}\"`. `${case.x}` is a value of a `cases:` row, `${steps.x}` a value captured by an earlier step,\n"+
		"`${CONFIG_DIR}` the directory of the file. Hooks and map keys are not expanded; commands are expanded after they are split into words.")
	p.printf("\n")
	for _, s := range sections {
		p.printf("\n- [%s](#%s)", s.title, anchor(s.title))
	}
	p.printf("\n")
	for _, s := range sections {
		p.printf("\n## %s\n\n%s\n", s.title, s.intro)
		p.table("Key", "Type", "Default", "Meaning")
		for _, k := range keysIn(s, keys) {
			typ, def := k.Type, ""
			if k.Required {
				typ += "; required"
			}
			if k.Default != "" {
				def = code(k.Default)
			}
			p.row(code(k.Name), typ, def, linked(k))
		}
	}
	return p.bytes()
}

// anchor is how a heading is linked to.
func anchor(title string) string {
	return strings.ReplaceAll(strings.ToLower(strings.NewReplacer("`", "", ".", "").Replace(title)), " ", "-")
}

// linked is a key's meaning, with a link where another page goes on.
func linked(k Key) string {
	for word, page := range map[string]string{"of violation": "violations", "matcher": "matchers", "target": "targets"} {
		if strings.HasSuffix(k.Type, word) {
			return prose(k.Doc) + " See [" + page + "](" + page + ".md)."
		}
	}
	return prose(k.Doc)
}
