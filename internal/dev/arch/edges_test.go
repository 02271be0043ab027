package arch_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the arrows in .golangci.yml from the table")

// all in a row allows every package of the module.
const all = "*"

// Every package may import anywhere, so that only one package decides which characters are
// shown, and lists, which is like a package of the standard library.
const (
	anywhere = "internal/base/display"
	lists    = "internal/base/lists"
)

// forTests may be imported by every test, and by nothing else: it uses modules that are
// only for tests.
const forTests = "internal/base/testkit"

// edges lists for each package the packages of the module that it may import; the
// diagram in ARCHITECTURE.md shows the same. Data flows one way, so no package may
// import one to its right in
//
//	source → suite → plan → run → result → report
//
// Package result defines the types that run and report share, and imports neither.
var edges = map[string][]string{
	anywhere:              {},
	lists:                 {},
	"internal/base/jsonv": {},
	"internal/base/elsewhere":  {},
	"internal/base/lazy":       {},
	// The texts, limits and samples, and what evaluates schemas.
	"internal/base/jsonschema":        {"internal/base/jsonschema/engine", "internal/base/jsonv"},
	"internal/base/jsonschema/engine": {"internal/base/jsonv"},
	"internal/base/osfile":     {},
	"internal/process/tail":    {"internal/base/lazy"},
	"internal/process/pipe":    {},
	"internal/process/proc":    {"internal/process/pipe", "internal/process/tail", "internal/base/source"},
	"internal/process/probe":   {"internal/process/proc", "internal/process/tail", "internal/base/web"},
	"internal/process/usage":   {"internal/process/proc"},
	// The syntax of ${…}; each language defines what may be in it.
	"internal/base/placeholder":       {},
	"internal/base/shellwords":        {"internal/base/lazy", "internal/base/placeholder"},
	"internal/process/watchdog":       {}, // has almost no imports, so that it is initialized first
	"internal/base/term":              {},
	"internal/base/web":               {},
	"internal/base/secret":            {"internal/base/jsonv"},
	"internal/base/source":            {"internal/base/lazy", "internal/base/source/syntax", "internal/base/source/spelling", "internal/base/jsonv"},
	"internal/base/source/spelling":   {},
	"internal/base/source/syntax":     {},
	"internal/base/source/stored":     {"internal/base/source", "internal/base/jsonv"},
	"internal/spec/suite/dotenv":      {"internal/base/source"},
	"internal/spec/suite/lint":        {"internal/base/lazy", "internal/base/source"},
	"internal/spec/suite/variants":    {"internal/base/source"},
	"internal/spec/suite/interpolate": {"internal/base/placeholder", "internal/base/source", "internal/base/jsonv"},
	"internal/assert/habit":           {"internal/base/source"},
	"internal/assert/format":          {"internal/base/lazy", "internal/base/jsonschema"},
	"internal/assert/jsonpath":        {"internal/base/jsonv"},
	"internal/assert/textdiff":        {"internal/base/jsonv"},
	"internal/assert/snapshot":        {"internal/base/lazy", "internal/base/source", "internal/base/source/stored", "internal/base/jsonv", "internal/assert/jsonpath", "internal/base/osfile"},
	"internal/assert/shown":           {"internal/assert/jsonpath", "internal/base/display", "internal/base/jsonv", "internal/base/source"},
	"internal/assert/target":          {"internal/base/display", "internal/assert/shown", "internal/assert/jsonpath", "internal/base/source", "internal/base/jsonv", "internal/offer/surface"},
	"internal/assert/schemas":         {"internal/base/jsonschema", "internal/base/jsonv", "internal/base/source"},
	"internal/assert/grading":         {"internal/base/source"},
	"internal/assert/match":           {"internal/assert/trajectory", "internal/assert/schemas", "internal/assert/grading", "internal/assert/target", "internal/assert/shown", "internal/offer/compat", "internal/assert/snapshot", "internal/base/source", "internal/base/shellwords", "internal/base/jsonv", "internal/offer/assert", "internal/base/jsonschema", "internal/base/lazy", "internal/assert/habit", "internal/assert/format", "internal/assert/jsonpath", "internal/assert/textdiff"},
	"internal/assert/expect":          {"internal/assert/trajectory", "internal/assert/match", "internal/assert/target", "internal/assert/shown", "internal/offer/compat", "internal/base/source", "internal/base/jsonv", "internal/offer/assert"},
	// The client half of MCP: sessions use the wire, and both use the vocabulary of
	// the protocol.
	"internal/client/protocol": {"internal/base/jsonv"},
	// How clients read the handshake: no network, because offer/compat reads files with it.
	"internal/client/handshake": {"internal/base/jsonv"},
	"internal/client/wire":      {"internal/base/lazy", "internal/client/protocol", "internal/base/jsonv", "internal/process/proc", "internal/process/tail", "internal/base/web"},
	"internal/client/conn":      {"internal/client/protocol", "internal/client/wire", "internal/base/display", "internal/base/jsonv", "internal/process/proc", "internal/process/tail"},
	"internal/client/mcp":       {"internal/client/handshake", "internal/client/conn", "internal/client/protocol", "internal/client/wire", "internal/base/jsonv", "internal/process/proc", "internal/process/tail"},
	// What MCP requires of a response. run and cli import it; mcp does not.
	"internal/client/check": {"internal/client/mcp", "internal/client/protocol", "internal/client/wire", "internal/base/jsonv", "internal/base/jsonschema", "internal/base/source"},
	// The server half does not import the client half.
	"internal/server/mcpserver": {"internal/client/protocol", "internal/client/wire", "internal/base/jsonv", "internal/base/web"},
	"internal/client/auth":      {"internal/base/osfile", "internal/base/web"},
	// Test doubles of the APIs behind a server.
	"internal/server/upstream":  {"internal/base/jsonv", "internal/base/secret", "internal/base/source"},
	"internal/server/recording": {"internal/base/lazy", "internal/server/upstream", "internal/base/jsonv", "internal/base/source", "internal/base/source/stored", "internal/base/secret", "internal/base/osfile", "internal/base/web"},
	"internal/server/proxy":     {"internal/base/web", "internal/server/upstream"},
	// Recorded traffic: the file, and how requests are matched with it.
	"internal/tape/cassette":  {"internal/base/lazy", "internal/client/protocol", "internal/base/osfile", "internal/base/secret", "internal/base/jsonv", "internal/assert/jsonpath"},
	"internal/tape/tee":       {"internal/tape/cassette", "internal/process/proc", "internal/process/pipe", "internal/client/protocol", "internal/base/jsonv", "internal/base/web"},
	"internal/tape/transport": {"internal/tape/cassette", "internal/run/connect", "internal/client/protocol", "internal/client/wire", "internal/spec/plan", "internal/process/proc", "internal/process/tail", "internal/base/secret", "internal/base/jsonv", "internal/base/web"},
	// suite uses expect's table of matchers only for the published schema.
	"internal/spec/suite": {"internal/spec/repeat", "internal/spec/agent", "internal/offer/ruleset", "internal/offer/compat", "internal/server/upstream", "internal/server/recording", "internal/base/placeholder", "internal/base/source", "internal/spec/suite/dotenv", "internal/spec/suite/interpolate", "internal/spec/suite/lint", "internal/spec/suite/variants", "internal/base/jsonv", "internal/base/shellwords", "internal/assert/target", "internal/base/secret", "internal/base/web"},
	// Upstreams, and the headers of calls.
	"internal/spec/plan/traffic": {"internal/spec/plan/rows", "internal/assert/grading", "internal/base/stats", "internal/base/jsonv", "internal/spec/agent", "internal/spec/suite", "internal/server/upstream", "internal/base/source"},
	// The rows of cases:.
	"internal/spec/plan/rows": {"internal/spec/suite", "internal/base/source", "internal/base/jsonv"},
	"internal/spec/plan":      {"internal/spec/repeat", "internal/spec/agent", "internal/assert/schemas", "internal/spec/plan/traffic", "internal/server/upstream", "internal/spec/plan/rows", "internal/assert/snapshot", "internal/client/protocol", "internal/spec/suite", "internal/spec/suite/interpolate", "internal/spec/suite/lint", "internal/spec/suite/variants", "internal/assert/expect", "internal/assert/match", "internal/assert/target", "internal/base/source", "internal/base/jsonv", "internal/process/probe", "internal/base/shellwords"},
	"internal/report/result":  {"internal/base/secret", "internal/base/jsonv"},
	// Sessions with the servers of a plan, for a run and for the commands that
	// examine one server.
	"internal/run/connect":  {"internal/base/lazy", "internal/spec/plan", "internal/client/mcp", "internal/client/protocol", "internal/client/wire", "internal/process/proc", "internal/process/tail", "internal/process/probe", "internal/base/shellwords", "internal/client/auth", "internal/base/jsonv"},
	"internal/run/boundary": {"internal/run/connect", "internal/spec/plan", "internal/spec/suite", "internal/assert/target", "internal/client/mcp", "internal/client/protocol", "internal/client/wire", "internal/process/proc", "internal/base/display", "internal/base/jsonv", "internal/base/lists", "internal/base/secret", "internal/base/web"},
	// Which tools may be called if the user has not named the calls.
	"internal/run/allow":  {"internal/base/jsonv"},
	"internal/base/stats": {},
	// The record of what happened; conversations with models.
	"internal/run/record":        {"internal/assert/expect", "internal/client/mcp", "internal/report/result", "internal/base/source"},
	"internal/run/agent":         {"internal/base/stats", "internal/assert/grading", "internal/run/allow", "internal/spec/agent", "internal/spec/suite", "internal/model", "internal/assert/target", "internal/assert/trajectory", "internal/server/manifest", "internal/server/mcpserver", "internal/server/mock", "internal/report/result", "internal/base/jsonschema", "internal/base/jsonv", "internal/base/source"},
	"internal/spec/agent":        {"internal/assert/grading", "internal/assert/snapshot", "internal/server/manifest", "internal/base/jsonv", "internal/base/source"},
	"internal/assert/trajectory": {"internal/assert/shown", "internal/base/secret", "internal/base/display", "internal/base/jsonv", "internal/base/source"},
	"internal/run/leak":          {"internal/process/usage", "internal/client/wire", "internal/report/gate", "internal/report/html", "internal/base/term"},
	"internal/run/load": {
		"internal/run/boundary", "internal/base/stats", "internal/spec/plan", "internal/assert/expect", "internal/assert/target", "internal/client/check", "internal/client/mcp", "internal/client/protocol", "internal/client/wire",
		"internal/report/html", "internal/report/render", "internal/base/jsonv", "internal/base/term",
	},
	"internal/run/probe/verdict":  {"internal/offer/ruleset", "internal/report/gate", "internal/report/result", "internal/base/term"},
	"internal/run/probe/entry":    {"internal/assert/target", "internal/run/probe", "internal/run/probe/verdict", "internal/run/boundary", "internal/run/connect", "internal/offer/ruleset", "internal/report/result", "internal/spec/plan", "internal/base/jsonv", "internal/base/source"},
	"internal/run/probe/argument": {"internal/base/jsonschema", "internal/base/jsonv"},
	"internal/run/probe/streams":  {"internal/run/boundary", "internal/client/protocol", "internal/spec/plan", "internal/spec/suite", "internal/base/jsonv"},
	"internal/run/probe/exam": {
		"internal/base/lazy",
		"internal/run/probe/verdict", "internal/offer/ruleset", "internal/offer/surface", "internal/run/allow", "internal/run/boundary", "internal/run/connect", "internal/spec/plan", "internal/spec/suite",
		"internal/client/check", "internal/client/conn", "internal/client/mcp", "internal/client/protocol", "internal/client/wire", "internal/process/proc", "internal/base/jsonv", "internal/base/web",
	},
	"internal/run/probe/features": {
		"internal/base/lazy",
		"internal/run/probe/argument", "internal/run/probe/exam", "internal/run/probe/verdict", "internal/assert/target", "internal/offer/ruleset", "internal/offer/surface", "internal/run/allow", "internal/spec/suite",
		"internal/client/check", "internal/client/mcp", "internal/client/protocol", "internal/client/wire", "internal/base/jsonschema", "internal/base/jsonv", "internal/base/source",
	},
	"internal/run/probe/basics": {
		"internal/base/web",
		"internal/base/lazy",
		"internal/run/probe/argument", "internal/run/probe/exam", "internal/run/probe/streams", "internal/run/probe/verdict", "internal/run/allow", "internal/run/boundary", "internal/run/connect", "internal/spec/plan", "internal/spec/suite",
		"internal/client/handshake", "internal/client/conn", "internal/client/wire", "internal/client/mcp", "internal/client/protocol", "internal/process/proc", "internal/process/usage", "internal/base/jsonv",
	},
	"internal/run/probe":   {"internal/run/probe/basics", "internal/run/probe/exam", "internal/run/probe/features", "internal/run/probe/verdict", "internal/offer/ruleset", "internal/client/mcp", "internal/client/protocol", "internal/base/source", "internal/offer/surface"},
	"internal/run/respond": {"internal/base/jsonschema", "internal/base/lists", "internal/spec/plan", "internal/spec/suite", "internal/client/protocol", "internal/base/jsonv"},
	"internal/run/doubles": {"internal/server/upstream", "internal/spec/plan", "internal/report/result", "internal/base/jsonv"},
	"internal/run/pool": {
		"internal/run/doubles", "internal/run/respond", "internal/run/connect", "internal/spec/plan", "internal/client/mcp", "internal/client/protocol", "internal/client/wire", "internal/client/check", "internal/process/proc", "internal/report/result", "internal/base/jsonv",
		"internal/base/source", "internal/offer/surface",
	},
	"internal/run/fixture": {
		"internal/run/pool", "internal/run/respond", "internal/run/connect", "internal/spec/plan", "internal/spec/suite", "internal/client/mcp", "internal/client/protocol", "internal/client/check",
		"internal/process/proc", "internal/process/tail", "internal/process/probe", "internal/report/result", "internal/base/secret", "internal/base/jsonv", "internal/base/source",
	},
	// What two servers answer to the same call, and the attempts of one case.
	"internal/run/twin":     {"internal/spec/plan", "internal/assert/match", "internal/assert/shown", "internal/assert/target", "internal/client/protocol", "internal/report/result", "internal/base/jsonv"},
	"internal/run/attempts": {"internal/assert/expect", "internal/base/stats", "internal/report/render", "internal/report/result", "internal/spec/repeat"},
	"internal/spec/repeat":  {"internal/base/source", "internal/base/stats"},
	"internal/run": {
		"internal/assert/grading", "internal/spec/agent", "internal/run/record", "internal/run/agent", "internal/run/attempts", "internal/run/twin", "internal/run/probe/entry", "internal/offer/ruleset", "internal/run/boundary", "internal/run/doubles", "internal/run/fixture", "internal/run/pool", "internal/run/respond", "internal/run/connect", "internal/run/coverage", "internal/offer/surface", "internal/spec/plan", "internal/spec/suite", "internal/assert/expect", "internal/assert/match", "internal/assert/target", "internal/assert/snapshot",
		"internal/offer/assert", "internal/client/mcp", "internal/client/protocol", "internal/client/wire", "internal/client/check", "internal/process/proc", "internal/process/tail", "internal/base/shellwords", "internal/report/result", "internal/base/secret", "internal/base/jsonv", "internal/base/source",
	},
	"internal/report": {
		"internal/base/elsewhere",
		"internal/report/pretty", "internal/report/ci", "internal/report/explain", "internal/report/html", "internal/report/render",
		"internal/report/result", "internal/base/source", "internal/base/osfile",
	},
	// The families of formats, which do not import each other, and what they share.
	"internal/report/render":   {"internal/report/result", "internal/base/term"},
	"internal/report/explain":  {"internal/base/stats", "internal/report/render", "internal/report/result", "internal/base/shellwords", "internal/base/source", "internal/base/term"},
	"internal/report/pretty":   {"internal/report/render", "internal/report/explain", "internal/report/result", "internal/base/term"},
	"internal/report/ci":       {"internal/report/gate", "internal/report/render", "internal/report/explain", "internal/report/result", "internal/base/jsonv", "internal/base/term"},
	"internal/report/html":     {"internal/report/render", "internal/report/explain", "internal/report/result", "internal/base/term", "internal/base/jsonv"},
	"internal/report/compare":  {"internal/base/lazy", "internal/base/stats", "internal/report/render", "internal/report/explain", "internal/report/result", "internal/base/term"},
	"internal/server/manifest": {"internal/base/placeholder", "internal/assert/jsonpath", "internal/client/protocol", "internal/base/source", "internal/base/jsonv", "internal/base/jsonschema"},
	"internal/server/mock":     {"internal/server/manifest", "internal/client/protocol", "internal/server/mcpserver", "internal/base/jsonv"},

	// MCP-AQL. The evaluation uses JavaScript's semantics, the table of rules and
	// the evidence. A live run only collects evidence, and a recording contains only
	// what passed between run and adapter, so neither imports the evaluation.
	"internal/mcpaql/reference": {"internal/base/jsonv", "internal/base/lazy"},
	"internal/mcpaql/rule":      {"internal/base/source"},
	"internal/mcpaql/evidence":  {"internal/mcpaql/reference", "internal/mcpaql/rule", "internal/base/jsonv", "internal/base/lazy", "internal/base/shellwords", "internal/base/secret", "internal/base/source"},
	"internal/mcpaql/verdict":   {"internal/mcpaql/evidence", "internal/mcpaql/rule", "internal/base/jsonv", "internal/report/result", "internal/base/source"},
	"internal/mcpaql/aql":       {"internal/mcpaql/evidence", "internal/mcpaql/reference", "internal/mcpaql/rule", "internal/mcpaql/verdict", "internal/base/jsonv"},
	"internal/mcpaql/fixtures":  {"internal/mcpaql/aql", "internal/mcpaql/evidence", "internal/mcpaql/rule", "internal/mcpaql/verdict", "internal/base/jsonv", "internal/base/source"},
	"internal/mcpaql/semantic":  {"internal/mcpaql/evidence", "internal/mcpaql/reference", "internal/model", "internal/base/jsonv"},
	// A live run: what the adapter describes, the calls and the data that they may
	// change, the tests.
	"internal/mcpaql/live/catalog": {"internal/mcpaql/evidence", "internal/mcpaql/reference", "internal/mcpaql/rule", "internal/base/jsonschema", "internal/base/jsonv"},
	"internal/mcpaql/live/tape":    {"internal/mcpaql/evidence", "internal/tape/cassette", "internal/base/display", "internal/base/jsonv", "internal/client/mcp", "internal/client/protocol", "internal/base/secret"},
	"internal/mcpaql/live/change":  {"internal/mcpaql/live/catalog", "internal/mcpaql/evidence", "internal/mcpaql/reference", "internal/base/display", "internal/base/jsonv"},
	"internal/mcpaql/live/guard": {
		"internal/mcpaql/live/catalog", "internal/mcpaql/live/change", "internal/mcpaql/live/tape", "internal/mcpaql/evidence", "internal/tape/cassette", "internal/mcpaql/reference", "internal/mcpaql/rule", "internal/mcpaql/semantic",
		"internal/base/jsonv", "internal/client/mcp", "internal/client/protocol", "internal/base/source",
	},
	"internal/mcpaql/live/probe": {
		"internal/mcpaql/live/guard", "internal/mcpaql/live/catalog", "internal/mcpaql/live/change", "internal/mcpaql/evidence", "internal/mcpaql/reference", "internal/mcpaql/rule", "internal/mcpaql/semantic",
		"internal/model", "internal/base/jsonv", "internal/client/mcp",
	},
	"internal/mcpaql/live": {
		"internal/mcpaql/live/probe", "internal/mcpaql/live/guard", "internal/mcpaql/live/catalog", "internal/mcpaql/live/tape", "internal/mcpaql/evidence",
		"internal/mcpaql/reference", "internal/mcpaql/rule", "internal/mcpaql/semantic", "internal/base/jsonv", "internal/client/mcp", "internal/base/source",
	},
	// The demo adapter is a server; only the command line and tests run it.
	"internal/mcpaql/demo": {"internal/client/protocol", "internal/server/mcpserver", "internal/base/jsonv", "internal/base/osfile"},
	"internal/model":       {"internal/base/jsonv", "internal/base/web"},
	// The outcome of a quality gate in the formats of other programs.
	"internal/report/gate":   {"internal/base/source", "internal/base/jsonv"},
	"internal/offer/ruleset": {"internal/base/source", "internal/report/gate"},
	"internal/offer/compat":  {"internal/client/handshake", "internal/base/lazy", "internal/base/secret", "internal/base/source", "internal/base/jsonv", "internal/base/jsonschema", "internal/report/gate", "internal/base/term"},
	"internal/spec/draft":    {"internal/base/lazy", "internal/base/jsonv", "internal/base/jsonschema", "internal/base/source"},
	// What a server offers, its lock files, and the effect of changes.
	"internal/offer/surface":  {"internal/base/lazy", "internal/base/jsonv", "internal/client/protocol", "internal/base/source", "internal/base/source/stored", "internal/base/secret", "internal/base/osfile"},
	"internal/offer/contain":  {"internal/base/jsonv", "internal/base/jsonschema"},
	"internal/offer/readme":   {"internal/base/lazy", "internal/offer/surface", "internal/base/source", "internal/base/jsonv"},
	"internal/offer/checkout": {"internal/offer/surface", "internal/base/source", "internal/process/proc"},
	"internal/offer/assert":   {"internal/offer/surface", "internal/offer/diff", "internal/base/jsonv", "internal/base/source"},
	"internal/offer/diff":     {"internal/base/lazy", "internal/offer/surface", "internal/offer/contain", "internal/report/gate", "internal/base/jsonschema", "internal/base/jsonv", "internal/base/shellwords"},
	// How much of what servers offer the tests of a run examined.
	"internal/run/coverage": {"internal/base/jsonschema", "internal/offer/surface", "internal/spec/draft", "internal/assert/jsonpath", "internal/report/result", "internal/base/jsonv"},
	// What one run leaves for the next, and what --setup-only leaves running.
	"internal/run/history": {"internal/spec/plan", "internal/spec/suite", "internal/report/result", "internal/run/connect", "internal/client/protocol", "internal/base/secret", "internal/base/source", "internal/base/osfile"},
	"internal/run/detach":  {"internal/run/history", "internal/run", "internal/spec/suite", "internal/process/proc", "internal/base/osfile"},
	// A connection that a person examines, and the diagnosis of a server.
	"internal/run/inspect": {"internal/offer/surface", "internal/run/connect", "internal/client/mcp", "internal/client/check", "internal/client/protocol", "internal/client/wire", "internal/process/proc", "internal/spec/plan", "internal/base/source", "internal/base/jsonv"},
	"internal/cli/doctor": {
		"internal/base/lazy",
		"internal/base/web", "internal/offer/compat", "internal/report/result", "internal/run/inspect", "internal/run/connect", "internal/client/auth", "internal/client/mcp", "internal/client/check", "internal/client/protocol", "internal/client/wire", "internal/spec/plan", "internal/process/proc", "internal/process/tail", "internal/base/shellwords",
		"internal/base/jsonv", "internal/base/jsonschema",
	},
	"internal/cli/scaffold": {"internal/base/jsonschema", "internal/spec/draft", "internal/cli/clientconfig", "internal/run/inspect", "internal/client/mcp", "internal/client/protocol", "internal/report/result", "internal/base/secret", "internal/base/jsonv"},
	// gen describes what other packages define; cli uses it for explain.
	"internal/cli/gen":     {"internal/assert/grading", "internal/offer/ruleset", "internal/cli/cmdutil", "internal/offer/assert", "internal/offer/compat", "internal/assert/snapshot", "internal/spec/suite", "internal/assert/expect", "internal/assert/match", "internal/assert/target", "internal/client/protocol", "internal/report", "internal/base/jsonv", "internal/base/source", "schemas"},
	"internal/cli/cmdutil": {"internal/base/elsewhere", "internal/base/lazy", "internal/base/shellwords", "internal/base/term", "internal/process/proc", "internal/process/pipe", "internal/base/secret", "internal/base/source", "internal/process/watchdog"},
	// All commands use option; those for one server are in a package of their own.
	"internal/cli/option": {
		"internal/server/recording",
		"internal/client/auth", "internal/cli/cmdutil", "internal/run/connect", "internal/base/display", "internal/run/history", "internal/run/inspect", "internal/base/jsonv", "internal/client/mcp",
		"internal/client/protocol", "internal/client/wire", "internal/spec/plan", "internal/process/proc", "internal/report", "internal/run", "internal/base/secret", "internal/assert/snapshot", "internal/base/shellwords", "internal/base/source",
		"internal/spec/suite", "internal/spec/suite/variants", "internal/offer/checkout", "internal/offer/diff", "internal/report/gate", "internal/base/term", "internal/run/watch",
	},
	"internal/cli/server": {
		"internal/run/probe", "internal/run/probe/verdict", "internal/offer/ruleset",
		"internal/process/proc", "internal/client/auth", "internal/cli/option", "internal/cli/cmdutil", "internal/offer/compat", "internal/run/connect", "internal/base/display", "internal/cli/doctor", "internal/report/gate",
		"internal/run/inspect", "internal/base/jsonv", "internal/client/mcp", "internal/client/protocol", "internal/server/mcpserver", "internal/server/manifest", "internal/server/mock", "internal/base/osfile", "internal/spec/plan",
		"internal/run", "internal/base/secret", "internal/base/shellwords", "internal/base/source", "internal/spec/suite", "internal/offer/surface", "internal/offer/checkout", "internal/offer/diff",
		"internal/offer/readme", "internal/base/term",
	},
	// Commands that put a server under stress.
	"internal/cli/stress": {
		"internal/run/leak", "internal/run/load", "internal/base/term", "internal/run/connect", "internal/process/usage", "internal/client/mcp", "internal/client/protocol", "internal/client/wire",
		"internal/cli/option", "internal/cli/cmdutil", "internal/run/allow", "internal/run/inspect", "internal/spec/plan", "internal/process/probe", "internal/process/proc",
		"internal/base/jsonv", "internal/base/secret", "internal/base/web",
	},
	"internal/cli/clientconfig": {"internal/base/lazy", "internal/base/jsonv", "internal/base/display", "internal/base/source", "internal/client/protocol", "internal/base/osfile", "internal/spec/suite/dotenv"},
	"internal/tape/verify":      {"internal/tape/cassette", "internal/run/inspect", "internal/client/mcp", "internal/client/protocol", "internal/client/wire", "internal/process/proc", "internal/base/secret", "internal/offer/surface", "internal/offer/diff", "internal/base/jsonv"},
	"internal/tape/promote":     {"internal/tape/cassette", "internal/spec/draft", "internal/client/check", "internal/client/protocol", "internal/base/secret", "internal/base/source", "internal/offer/surface", "internal/base/jsonv"},
	"internal/tape/serve":       {"internal/tape/cassette", "internal/client/protocol", "internal/server/mcpserver", "internal/base/secret", "internal/base/jsonv"},
	"internal/cli/tape": {
		"internal/tape/cassette", "internal/tape/serve", "internal/tape/promote", "internal/tape/tee", "internal/tape/transport", "internal/tape/verify", "internal/spec/plan", "internal/run/inspect", "internal/client/mcp", "internal/client/check", "internal/client/protocol", "internal/server/mcpserver", "internal/cli/scaffold", "internal/base/jsonv", "internal/offer/surface", "internal/offer/diff", "internal/cli/option", "internal/run/connect", "internal/cli/clientconfig", "internal/cli/cmdutil", "internal/base/display", "internal/process/proc",
		"internal/base/secret", "internal/base/shellwords", "internal/spec/suite", "internal/base/term",
	},
	"internal/cli/playback": {
		"internal/tape/cassette", "internal/tape/transport", "internal/cli/option", "internal/cli/cmdutil", "internal/base/display", "internal/spec/plan", "internal/report/result", "internal/run", "internal/base/secret", "internal/base/term",
	},
	"internal/run/watch": {"internal/spec/plan", "internal/run", "internal/spec/suite", "internal/base/term"},
	"internal/cli/skill": {
		"internal/cli/cmdutil", "internal/cli/option",
	},
	"internal/cli/upstreams": {
		"internal/base/display", "internal/base/jsonv", "internal/base/web", "internal/spec/suite/dotenv", "internal/spec/agent", "internal/run/agent", "internal/model", "internal/cli/option", "internal/spec/draft", "internal/spec/plan", "internal/report/result", "internal/run", "internal/run/doubles", "internal/base/secret", "internal/base/source", "internal/spec/suite", "internal/base/term",
		"internal/server/upstream", "internal/server/proxy", "internal/server/recording",
	},
	"internal/cli": {
		"internal/base/elsewhere",
		"internal/base/lazy",
		"internal/run/watch", "internal/cli/upstreams", "internal/cli/option", "internal/cli/playback", "internal/cli/server", "internal/cli/skill", "internal/cli/stress", "internal/cli/tape", "internal/cli/cmdutil", "internal/run/connect", "internal/run/detach", "internal/base/display", "internal/spec/draft", "internal/cli/gen", "internal/run/history",
		"internal/run/inspect", "internal/base/jsonv", "internal/client/mcp", "internal/client/protocol", "internal/client/wire", "internal/server/manifest", "internal/base/osfile", "internal/spec/plan",
		"internal/process/proc", "internal/report", "internal/report/compare", "internal/report/html", "internal/report/pretty", "internal/report/render", "internal/report/result", "internal/run", "internal/cli/scaffold",
		"internal/base/secret", "internal/base/shellwords", "internal/assert/snapshot", "internal/base/source", "internal/spec/suite", "internal/base/term", "internal/server/proxy", "schemas",
	},
	"internal/mcpaql/aqlcli": {
		"internal/cli/cmdutil", "internal/report", "internal/report/render", "internal/mcpaql/aql", "internal/mcpaql/demo", "internal/mcpaql/evidence", "internal/mcpaql/fixtures", "internal/mcpaql/live", "internal/mcpaql/live/guard", "internal/mcpaql/live/tape", "internal/tape/cassette",
		"internal/mcpaql/rule", "internal/mcpaql/semantic", "internal/mcpaql/verdict", "internal/model", "internal/client/mcp", "internal/client/wire", "internal/server/mcpserver",
		"internal/process/proc", "internal/base/shellwords", "internal/report/result", "internal/base/secret", "internal/base/jsonv", "internal/base/source", "internal/base/term", "internal/base/osfile",
	},

	"internal/dev/arch":        {},
	"internal/dev/conformance": {}, // runs the compiled programs
	"internal/dev/bench":       {}, // tests only
	"internal/dev/packaging":   {"schemas"},
	"internal/dev/faults":      {}, // tests only
	"internal/dev/flaky":       {}, // for tests
	forTests:                   {},
	"schemas":                  {},
	"cmd/mcptest":              {"internal/cli", "internal/cli/cmdutil"},
	"cmd/mcpaql-conformance":   {"internal/mcpaql/aqlcli", "internal/cli/cmdutil"},
	".":                        {all}, // the public package, for Go tests
}

// testOnly marks a module that only _test.go files may import.
const testOnly = "tests"

// modules lists the packages that may import a third-party module: as few as
// possible, so that the module can be replaced. The longest matching path counts.
var modules = map[string][]string{
	"go.yaml.in/yaml/v4":                     {"internal/base/source"},
	"github.com/santhosh-tekuri/jsonschema":  {testOnly}, // what package engine is compared with
	"github.com/dlclark/regexp2":             {"internal/base/jsonschema/engine"},
	"mvdan.cc/sh/v3":                         {"internal/base/shellwords"},
	"github.com/aymanbagabas/go-udiff":       {"internal/assert/textdiff"},
	"github.com/clipperhouse/displaywidth":   {"internal/base/display", "internal/base/source"}, // how wide a text is
	"github.com/fsnotify/fsnotify":           {"internal/run/watch"},
	"github.com/valyala/quicktemplate":       {"internal/report/html"},
	"golang.org/x/term":                      {"internal/base/term"},
	"golang.org/x/sys":                       {"internal/process/proc", "internal/process/pipe", "internal/base/term", "internal/base/osfile", "internal/server/proxy"},
	"github.com/spf13":                       {"internal/cli", "internal/cli/upstreams", "internal/cli/skill", "internal/cli/stress", "internal/cli/tape", "internal/cli/option", "internal/cli/playback", "internal/cli/server", "internal/cli/cmdutil", "internal/mcpaql/aqlcli"},
	"github.com/modelcontextprotocol/go-sdk": {"internal/client/auth", testOnly}, // its package oauthex
	"golang.org/x/oauth2":                    {"internal/client/auth"},
	"github.com/google/go-cmp":               {"internal/base/testkit", testOnly},
	"github.com/rogpeppe/go-internal":        {testOnly},
	"pgregory.net/rapid":                     {testOnly},
	"go.uber.org/goleak":                     {testOnly},
}

func TestImportsFollowTheTable(t *testing.T) {
	t.Parallel()
	files := loadTree(t)
	for _, p := range packages(files) {
		if _, ok := edges[p]; !ok {
			t.Errorf("package %s has no row in the table of edges: decide what it may import and add one", p)
		}
	}
	for _, f := range files {
		if f.external { // an external test may use other packages as a user would
			continue
		}
		for _, ip := range f.imports {
			to, ok := ours(ip)
			if to == forTests {
				if !f.test {
					t.Errorf("%s imports %s, which is only for tests", f.rel, to)
				}
				continue
			}
			if !ok || to == anywhere || to == lists || slices.Contains(edges[f.pkg], all) || slices.Contains(edges[f.pkg], to) {
				continue
			}
			t.Errorf("%s imports %s: %s may import %v", f.rel, to, f.pkg, edges[f.pkg])
		}
	}
}

func TestTableHasNoCycle(t *testing.T) {
	t.Parallel()
	state := map[string]int{} // 1: on the path, 2: done
	var visit func(p string, trail []string)
	visit = func(p string, trail []string) {
		switch state[p] {
		case 1:
			t.Errorf("cycle in the table: %s", strings.Join(append(trail, p), " → "))
			return
		case 2:
			return
		}
		state[p] = 1
		for _, q := range edges[p] {
			if q == all {
				continue
			}
			if _, ok := edges[q]; !ok {
				t.Errorf("the row of %s names %s, which has no row", p, q)
			}
			visit(q, append(trail, p))
		}
		state[p] = 2
	}
	for _, p := range slices.Sorted(maps.Keys(edges)) {
		visit(p, nil)
	}
}

func TestModulesAreImportedInOnePackage(t *testing.T) {
	t.Parallel()
	for _, f := range loadTree(t) {
		for _, ip := range f.imports {
			if _, our := ours(ip); our || !strings.Contains(strings.Split(ip, "/")[0], ".") {
				continue // this module or the standard library
			}
			key, ok := longestPrefix(ip)
			switch {
			case !ok:
				t.Errorf("%s imports %s: no row for it in the table of modules (docs/adr/0009-dependency-policy.md)", f.rel, ip)
			case f.test || slices.Contains(modules[key], f.pkg):
			case slices.Contains(modules[key], testOnly):
				t.Errorf("%s imports %s, which only tests may use", f.rel, ip)
			default:
				t.Errorf("%s imports %s, which belongs to %v", f.rel, ip, modules[key])
			}
		}
	}
}

func longestPrefix(importPath string) (string, bool) {
	best := ""
	for m := range modules {
		if (importPath == m || strings.HasPrefix(importPath, m+"/")) && len(m) > len(best) {
			best = m
		}
	}
	return best, best != ""
}

const (
	arrowsBegin = "      # arrows: begin (written by go test ./internal/dev/arch -update)\n"
	arrowsEnd   = "      # arrows: end\n"
)

// TestLinterKnowsTheArrows keeps the depguard section of .golangci.yml, which
// shows a wrong import in the editor, equal to the table of rooms.
func TestLinterKnowsTheArrows(t *testing.T) {
	t.Parallel()
	name := filepath.Join(repoRoot(t), ".golangci.yml")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := bytes.Cut(data, []byte(arrowsBegin))
	_, tail, ok2 := bytes.Cut(rest, []byte(arrowsEnd))
	if !ok || !ok2 {
		t.Fatalf("%s lacks the lines %q and %q", name, arrowsBegin, arrowsEnd)
	}
	want := slices.Concat(head, []byte(arrowsBegin), depguardRules(), []byte(arrowsEnd), tail)
	if bytes.Equal(data, want) {
		return
	}
	if !*update {
		t.Fatal("the depguard rules in .golangci.yml differ from the table of rooms: go test ./internal/dev/arch -update")
	}
	if err := os.WriteFile(name, want, 0o644); err != nil {
		t.Fatal(err)
	}
}

// depguardRules writes one rule per room, which allows what the packages of the room
// may import from others.
func depguardRules() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "      rules:\n")
	for _, room := range slices.Sorted(maps.Keys(rooms)) {
		fmt.Fprintf(&b, "        %s:\n", room)
		fmt.Fprintf(&b, "          list-mode: lax\n")
		fmt.Fprintf(&b, "          files: [\"**/internal/%s/**/*.go\", \"!$test\"]\n", room)
		fmt.Fprintf(&b, "          deny: [{pkg: %s, desc: \"see the table of rooms in internal/dev/arch/rooms_test.go\"}]\n", module)
		fmt.Fprintf(&b, "          allow: [%s/internal/%s", module, room)
		for _, other := range rooms[room].imports {
			fmt.Fprintf(&b, ", %s", path.Join(module, insideModule(other)))
		}
		fmt.Fprintf(&b, "]\n")
	}
	return b.Bytes()
}
