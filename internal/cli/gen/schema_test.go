package gen_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestPages: every example of the two pages that define the language, as it
// is there. Those without servers are parts of a suite.
func TestPages(t *testing.T) {
	names, err := filepath.Glob("testdata/pages/*.yaml")
	if err != nil || len(names) != 11 {
		t.Fatalf("found %d pages' examples: %v", len(names), err)
	}
	c := newChecker(t)
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".yaml"), func(t *testing.T) {
			text := read(t, name)
			if bad := c.bySchema(t, parse(t, name, text)); len(bad) > 0 {
				t.Errorf("the schema rejects it: %+v", bad)
			}
			if parse(t, name, text).Lookup("servers").IsAbsent() {
				text = append([]byte("servers: {api: {command: [api]}}\n"), text...)
			}
			if bad := errorsOf(c.byProgram(t, text)); len(bad) > 0 {
				t.Errorf("the program rejects it: %v", bad)
			}
		})
	}
}

// TestSuites: the suites of this test, and those that the repository shows,
// fit the schema.
func TestSuites(t *testing.T) {
	c := newChecker(t)
	for _, pattern := range []string{"testdata/suites/*.yaml", "../../../examples/*.yml", "../../../examples/*.yaml", "../../../examples/*/mcptest.y*ml"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			v := parse(t, name, read(t, name))
			if !v.Lookup("mock_server").IsAbsent() {
				continue // the manifest of a scripted server, not a suite
			}
			if bad := c.bySchema(t, v); len(bad) > 0 {
				t.Errorf("%s: the schema rejects it: %+v", name, bad)
			}
			if !strings.HasPrefix(name, "testdata") {
				continue // run by the test of the examples
			}
			if bad := errorsOf(c.byProgram(t, read(t, name))); len(bad) > 0 {
				t.Errorf("%s: the program rejects it: %v", name, bad)
			}
		}
	}
}

// TestRules: what must hold among keys, judged alike by schema and program.
// Each line is a suite's text below a server called api.
func TestRules(t *testing.T) {
	c := newChecker(t)
	check := func(t *testing.T, text string, want bool) {
		t.Helper()
		if !strings.Contains(text, "servers:") {
			text = "servers: {api: {command: [node]}}\n" + text
		}
		bySchema := c.bySchema(t, parse(t, "rule", []byte(text)))
		byProgram := errorsOf(c.byProgram(t, []byte(text)))
		if (len(bySchema) == 0) != want {
			t.Errorf("schema, accepted %v: %v\n%s", len(bySchema) == 0, bySchema, text)
		}
		if (len(byProgram) == 0) != want {
			t.Errorf("program, accepted %v: %v\n%s", len(byProgram) == 0, byProgram, text)
		}
	}
	for _, text := range accepted {
		check(t, text, true)
	}
	for _, text := range refused {
		check(t, text, false)
	}
}

var accepted = []string{
	`tools: [{name: a, tool: b}]`,
	`tools: [{name: a, tool: b, timeout: "${T:-30s}", tags: ["${T:-x}"], log_level: "${T:-debug}"}]`,
	"variables: {n: 1, yes: true, at: localhost}\ntools: [{name: a, tool: b, retries: '${n}', threshold: '${n}', only: '${yes}', repeat: null}]\nrun_options: {parallel: '${n}'}",
	`tools: [{name: a, tool: b, cases: [{args: {q: 1}, want: [{target: text, matcher: {exact: x}}], m: {gt: 1}}], args: "${case.args}", expect: "${case.want}"}]`,
	`tools: [{name: a, tool: b, cases: [{m: {gt: 1}, n: 2, t: [string]}], expect: [{target: result.n, matcher: "${case.m}", weight: "${case.n}"}, {target: text, matcher: {type: "${case.t}"}}]}]`,
	`tools: [{name: a, tool: b, expect: [{target: '$["result"].x', matcher: {type: null}}, {target: 'http["status"]', matcher: {type: [null, string]}}]}]`,
	`tools: [{name: a, tool: b, expect: }]`,
	`tools: [{name: a, tool: b, timeout: null, threshold: null, skip: true, server: [api]}]`,
	`tools: [{name: a, tool: tools/list}]`,
	`servers: {api: {url: "http://h/mcp", headers: {X: 5, Y: true}, auth: null, tls: null}}`,
	`servers: {api: {url: "http://h/mcp", auth: {oauth: null, bearer_token_env: API_TOKEN}, tls: {insecure: true}, transport: sse, protocol: 2025-06-18}}`,
	`servers: {api: {url: "http://h/mcp", auth: {oauth: {grant: authorization_code, redirect_port: 80, headless: true}}}}`,
	`servers: {api: {url: "http://h/mcp", auth: {oauth: {grant: device_code, client_id: c, scope: s}}}}`,
	`servers: {api: {command: node, variants: {a: {args: [-a], env: {A: b}, protocol: 2025-11-25}, b: {}, c: {url: "http://h", query: {a: true}}, d: {command: [node, d]}}}}`,
	`servers: {api: {headers: {A: b}, env: {A: b}, variants: {a: {url: "http://h"}, b: {command: "node b"}}}}`,
	`servers: {api: {command: node, variants: {a: {}, from: [./variants.sh, --all]}}, b: {variants: {from: [node, b.js]}}}`,
	"servers: {api: {command: node, variants: {a: {}, b: {}}}, b: {command: node}}\ntools: [{name: a, tool: b, server: 'api@*'}]\ndefaultTest: {server: ['api@a', b]}",
	`setup: [{run: [a], timeout: 1m 30s}, {call: {tool: a}, background: false}]`,
	`teardown: [{run: [a], always: false, background: false}]`,
	`hooks: {beforeAll: [], timeout: 1.5s}`,
	`hooks: {beforeAll: {command: x, mode: "${M:-context}", timeout: "${T:-5s}"}, timeout: "${T:-5}s"}`,
	"tools:\n- {name: a, tool: b, only: false, retries: 1}\n- name: b\n  tool: c\n  retries: ${N:-10}\n  only: ${F:-false}",
	`protocol: [{name: a, method: b, params: 5}, {name: c, raw: ""}]`,
	`protocol: [{name: a, steps: [{tool: x}, {uri: y}, {prompt: z, args: {a: "1"}}, {prompt: w, args: {a: 1}, invalid_args: true}, {method: m}, {raw: "{"}]}]`,
	`variables: {a: null, b: 1.5, c: {from_env: NOPE, default: null}}`,
	`tools: [{name: a, tool: b, respond: {roots: []}}]`,
	`tools: [{name: a, tool: b, respond: {elicitation: {action: accept, content: defaults}, sampling: {content: [], anything: 1}}}]`,
	`tools: [{name: a, tool: b, repeat: {times: 2}, retries: 0}]`,
	`run_options: {parallel: false}`,
}

var refused = []string{
	`toolz: []`,
	`tools: [{tool: b}]`,
	`tools: [{name: a}]`,
	`tools: [{name: " ", tool: b}]`,
	`tools: [{name: a, tool: ""}]`,
	`tools: [{name: a, tool: b, uri: c}]`,
	`tools: [{name: a, tool: b, steps: [{tool: c}]}]`,
	`tools: [{name: a, args: {}, steps: [{tool: c}]}]`,
	`tools: [{name: a, wait: {notification: n}, steps: [{tool: c}]}]`,
	`tools: [{name: a, steps: []}]`,
	`tools: [{name: a, steps: [{tool: c, uri: d}]}]`,
	`tools: [{name: a, steps: [{args: {}}]}]`,
	`tools: [{name: a, steps: [null]}]`,
	`tools: [{name: a, tool: b, server: ""}]`,
	`tools: [{name: a, tool: b, server: []}]`,
	`tools: [{name: a, tool: b, transform: {}}]`,
	`tools: [{name: a, tool: b, timeout: 30}]`,
	`tools: [{name: a, tool: b, timeout: 30 parsecs}]`,
	`tools: [{name: a, tool: b, threshold: 1.01}]`,
	`tools: [{name: a, tool: b, threshold: heavy}]`,
	`tools: [{name: a, tool: b, retries: -1}]`,
	`tools: [{name: a, tool: b, retries: 101}]`,
	`tools: [{name: a, tool: b, repeat: {times: 0}}]`,
	`tools: [{name: a, tool: b, repeat: {times: 2}, retries: 1}]`,
	`tools: [{name: a, tool: b, tags: [5]}]`,
	`tools: [{name: a, tool: b, args: [1]}]`,
	`tools: [{name: a, tool: b, cases: []}]`,
	`tools: [{name: a, tool: b, log_level: loud}]`,
	`tools: [{name: a, tool: b, expect: {target: text, matcher: {exact: a}}}]`,
	`tools: [{name: a, tool: b, expect: [{target: text}]}]`,
	`tools: [{name: a, tool: b, expect: [{matcher: {exact: a}}]}]`,
	`tools: [{name: a, tool: b, expect: [{target: text, matcher: {}}]}]`,
	`tools: [{name: a, tool: b, expect: [{target: text, matcher: {exact: a, contains: b}}]}]`,
	`tools: [{name: a, tool: b, expect: [{target: text, matcher: {equals: a}}]}]`,
	`tools: [{name: a, tool: b, expect: [{target: txt, matcher: {exact: a}}]}]`,
	`tools: [{name: a, tool: b, expect: [{target: text.x, matcher: {exact: a}}]}]`,
	`tools: [{name: a, tool: b, expect: [{target: text, matcher: {exact: a}, weight: -1}]}]`,
	`tools: [{name: a, tool: b, expect: [{target: text, matcher: {exact: a}, severity: 1}]}]`,
	`tools: [{name: a, tool: b, expect: [{target: text, matcher: {gt: "3"}}]}]`,
	`tools: [{name: a, tool: b, expect: [{target: text, matcher: {regex: 3}}]}]`,
	`tools: [{name: a, tool: b, expect: [{target: text, matcher: {all-of: []}}]}]`,
	`tools: [{name: a, tool: b, expect: [{assert-set: {assertions: []}}]}]`,
	`tools: [{name: a, tool: b, expect: [{assert-set: {assertions: [{assert-set: {assertions: [{target: text, matcher: {exact: a}}]}}]}}]}]`,
	`tools: [{name: a, tool: b, expect: [{assert-set: {assertions: [{target: text, matcher: {exact: a}}], threshold: 2}}]}]`,
	`tools: [{name: a, tool: b, expect: {assertions: [], max_duration_ms: 0}}]`,
	`tools: [{name: a, tool: b, derivedMetrics: [{name: m, value: {weighted_sum: [{ref: a}], weighted_average: [{ref: a}]}}]}]`,
	`tools: [{name: a, tool: b, derivedMetrics: [{name: m, value: {weighted_sum: []}}]}]`,
	`tools: [{name: a, tool: b, respond: {elicitation: {action: decline, content: {}}}}]`,
	`tools: [{name: a, tool: b, respond: {elicitation: {action: perhaps}}}]`,
	`tools: [{name: a, tool: b, respond: {sampling: {model: m}}}]`,
	`tools: [{name: a, tool: b, respond: {sampling: {text: t, stop: s}}}]`,
	`resources: [{name: a}]`,
	`resources: [{name: a, uri: b, args: {}}]`,
	`prompts: [{name: a, prompt: ""}]`,
	`protocol: [{name: a, method: b, raw: c}]`,
	`protocol: [{name: a, raw: 5}]`,
	`servers: {api: {}}`,
	`servers: {api: null}`,
	`servers: {api: "node server.js"}`,
	`servers: {api: {command: []}}`,
	`servers: {api: {command: [5]}}`,
	`servers: {api: {command: ""}}`,
	`servers: {api: {url: ""}}`,
	`servers: {api: {command: node, url: "http://h"}}`,
	`servers: {api: {command: node, url: ""}}`,
	`servers: {api: {command: node, headers: {A: b}}}`,
	`servers: {api: {command: node, transport: sse}}`,
	`servers: {api: {command: node, tls: {}}}`,
	`servers: {api: {url: "http://h", cwd: x}}`,
	`servers: {api: {url: "http://h", env: {A: b}}}`,
	`servers: {api: {url: "http://h", inherit_env: all}}`,
	`servers: {api: {url: "http://h", headers: {"a b": c}}}`,
	`servers: {api: {url: "http://h", auth: {oauth: {}}}}`,
	`servers: {api: {command: node, protocol: "2023-01-01"}}`,
	`servers: {api: {command: node, sessions: 0}}`,
	`servers: {api: {command: node, retry_http: 1}}`,
	`servers: {api: {url: "http://h", auth: {}}}`,
	`servers: {api: {url: "http://h", auth: {bearer_token_env: API_TOKEN}, headers: {authorization: x}}}`,
	`servers: {api: {url: "http://h", auth: {bearer_token_env: API_TOKEN, oauth: {grant: device_code, client_id: c}}}}`,
	`servers: {api: {url: "http://h", auth: {oauth: {grant: client_credentials, client_id: c, client_secret_env: API_TOKEN}}}}`,
	`servers: {api: {url: "http://h", auth: {oauth: {grant: client_credentials, issuer: i}}}}`,
	`servers: {api: {url: "http://h", auth: {oauth: {grant: device_code, client_id: c, headless: true}}}}`,
	`servers: {api: {command: node, wait_for_ready: soon}}`,
	`servers: {api: {command: node, env: {"A=B": c}}}`,
	`servers: {"api@a": {command: node}}`,
	`servers: {api: {command: node, variants: {"": {}}}}`,
	`servers: {api: {command: node, variants: {from: []}}}`,
	`servers: {api: {command: node, variants: {from: {args: [a]}}}}`,
	`servers: {api: {command: node, variants: {"a@b": {}}}}`,
	`servers: {api: {command: node, variants: {"a*": {}}}}`,
	`servers: {api: {command: node, variants: {a: null}}}`,
	`servers: {api: {command: node, variants: [a]}}`,
	`servers: {api: {command: node, variants: {a: {cwd: x}}}}`,
	`servers: {api: {command: node, variants: {a: {args: -x}}}}`,
	`servers: {api: {command: node, variants: {a: {args: [5]}}}}`,
	`servers: {api: {command: node, variants: {a: {url: ""}}}}`,
	`servers: {api: {command: node, variants: {a: {url: "http://h", command: node}}}}`,
	`servers: {api: {command: node, variants: {a: {url: "http://h", env: {A: b}}}}}`,
	`servers: {api: {url: "http://h", variants: {a: {command: node, headers: {A: b}}}}}`,
	`servers: {api: {url: "http://h", variants: {a: {command: node, query: {a: b}}}}}`,
	`servers: {api: {variants: {}}}`,
	`servers: {api: {command: node, variants: "${x:-y}"}}`,
	`servers: {api: {command: node, variants: {a: "${x:-y}"}}}`,
	`tools: [{name: a, steps: [{uri: c, args: {}}]}]`,
	`tools: [{name: a, steps: [{tool: c, notification: true}]}]`,
	`protocol: [{name: a, raw: c, params: {}}]`,
	`protocol: [{name: a, raw: c, cancel_after: 1s}]`,
	`protocol: [{name: a, method: c, notification: true, cancel_after: 1s}]`,
	`tools: [{name: a, tool: b, respond: {}}]`,
	`tools: [{name: a, tool: b, respond: {sampling: []}}]`,
	`tools: [{name: a, tool: b, respond: {sampling: {text: a, content: {}}}}]`,
	`tools: [{name: a, tool: b, skip: ""}]`,
	`tools: [{name: a, tool: b, wait: {notification: ""}}]`,
	`default_server: ""`,
	`servers: {api: {command: node, tolerate: [stray]}}`,
	`servers: {api: {command: node, env: {A: [1]}}}`,
	`servers: {api: {command: node, inherit_env: none}}`,
	`setup: [{}]`,
	`setup: [{run: [a], call: {tool: b}}]`,
	`setup: [{run: [a], call: null}]`,
	`setup: [{run: {}}]`,
	`setup: [{run: []}]`,
	`setup: [{run: [5]}]`,
	`setup: [{run: [a], always: true}]`,
	`setup: [{run: [a], always: null}]`,
	`setup: [{call: {}}]`,
	`setup: [{call: {tool: a}, background: true}]`,
	`setup: [{call: {tool: a}, env: {A: b}}]`,
	`setup: [{call: {tool: a}, wait_for: "log:/x/"}]`,
	`setup: [{run: [a], wait_for: ""}]`,
	`setup: [{run: [a], wait_for: "localhost:80"}]`,
	`setup_per_test: [{run: [a], timeout: 5}]`,
	`teardown: [{run: [a], background: true}]`,
	`hooks: {beforeall: x}`,
	`hooks: {beforeAll: ""}`,
	`hooks: {beforeAll: {command: x}}`,
	`hooks: {beforeAll: {command: x, mode: plain}}`,
	`hooks: {beforeAll: {mode: context}}`,
	`hooks: {beforeAll: [5]}`,
	`hooks: "${x:-y}"`,
	`hooks: {beforeAll: {command: "", mode: context}}`,
	`variables: {"a b": 1}`,
	`variables: {a: [1]}`,
	`variables: {a: {default: 1}}`,
	`variables: {a: {from_env: A, secret: "${x}"}}`,
	`env: {A: null}`,
	`env: [A]`,
	`imports: [""]`,
	`run_options: {parallel: true}`,
	`run_options: {parallel: 0}`,
	`run_options: {restart_policy: never}`,
	`run_options: {fail_fast: "yes"}`,
	`defaultTest: {name: a}`,
	`defaultTest: {retries: -1}`,
	`tools: {}`,
	`tools: "${x:-y}"`,
	`tools: ["${x:-y}"]`,
}
