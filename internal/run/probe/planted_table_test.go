package probe_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcptest/internal/offer/ruleset"
)

var update = flag.Bool("update", false, "write the table of planted servers")

// tablePath is the table that the reference page of planted servers is made from.
var tablePath = filepath.Join("testdata", "planted.json")

// provokes says what provokes the rules of a family, and of a rule for which it is not that.
var provokes = map[string]string{
	"lifecycle":    "the handshake, with a known, an older and a made-up version",
	"messages":     "every response to a valid request, two requests at once, and requests with an unknown method, a text as id and no id",
	"capabilities": "the handshake, each list, and one request for each capability",
	"lists":        "every page of each list, a made-up cursor, and a second connection",
	"tools":        "the definitions, and a call of each tool that may be called",
	"resources":    "reading listed resources, and one that neither is listed nor matches a template",
	"prompts":      "getting each prompt, without a required argument, and an unknown one",
	"skills":       "skills/list, skills/get of each listed skill and of an unknown one, and reading its files and directories",
	"utilities":    "ping, completion, levels of logging, cancellation, a subscription, and calls of tools meanwhile",
	"http":         "raw requests with other headers, methods and bodies, and streams that are resumed",
	"session":      "several sessions, one that was ended and one that was made up",
	"stateless":    "every result, and requests whose _meta or headers lack something or differ",
	"auth":         "requests, a stream and the end of a session without a token and with a made-up one, and the metadata of the resource",
	"arguments":    "calls with hostile arguments and with those that models write",
	"isolation":    "text that one session sends, looked for in another",
	"retry":        "the calls of retry: in a suite, each made twice",
	"apps":         "the lists and the views, for a client that declares the extension io.modelcontextprotocol/ui",
	"fuzz":         "calls with values made from the inputSchema",
	"shutdown":     "closing the input, and SIGTERM",

	"ui-text-fallback":       "a call of each read-only tool with a view",
	"ui-fallback-tool":       "the list of tools, for a client that declares the extension and for another one",
	"capability-served":      "each list of a declared capability, twice",
	"list-changed":           "each list before and after a call of each tool that may be called",
	"logging-filter":         "a call of each tool that may be called, after the level error was set",
	"header-mismatch":        "headers that name another method, version, tool, prompt or resource than the body, or nearly the same",
	"header-missing":         "requests without Mcp-Method, Mcp-Name or MCP-Protocol-Version",
	"auth-as-metadata":       "the metadata of an authorization server on this machine or at the server's origin",
	"auth-metadata-resource": "the metadata of the resource",
}

// elsewhere are rules whose planted servers are processes in scripts of the command line, or
// which are never provoked.
var elsewhere = map[string]string{
	"lifecycle-second":       "a server that refuses a second session, and one in which it ends the first (script http/second)",
	"list-quiet":             "a server that announces a change whenever its tools are listed (script surface/storm)",
	"stream-offered":         "a server that declares resources.subscribe and answers GET with 405 (script protocol/also)",
	"retry-once":             "a server that writes twice (script probe/suite)",
	"shutdown-eof":           "a process that ignores the end of its input (script probe/probe_dies)",
	"shutdown-children":      "a process that leaves a child behind (script probe/probe_dies)",
	"process-ended":          "a process that ends with status 3 after its response to an unknown method (script probe/ends)",
	"message-answered-again": "a process that answers a list with -32603 after six responses (script probe/ends)",
	"descriptors-returned":   "a process whose tool opens a file at each call (script probe/ends)",
	"ui-resource-exists":     "a server that answers -32002 for its view (script probe/apps)",
	"ui-scheme":              "a tool whose view is a page of the web (script probe/apps)",
	"ui-mime":                "a view that is text/html (script probe/apps)",
	"ui-content":             "a view without contents (script probe/apps)",
	"ui-html":                "a view that is a sentence (script probe/apps)",
	"ui-capability":          "a server with a view that declares tools only (script probe/apps)",
	"ui-text-fallback":       "a tool with a view whose result has structuredContent only (script probe/apps)",
	"ui-fallback-tool":       "a tool that is listed only if the extension is declared (script probe/apps)",
	"shutdown-sigterm":       "none: a process that ignores SIGTERM is killed only after the limit",
	"skill-dynamic":          "none: it is a note only, because dynamic is right",
	"auth-query-token":       "none: the rule is never provoked, because it would put a token into an address",
}

// row is a rule in the table, with its planted servers.
type row struct {
	Rule     string   `json:"rule"`
	Provoked string   `json:"provoked"`
	Planted  []string `json:"planted"`
}

// rowOf collects the planted servers of a rule.
func rowOf(r ruleset.Rule) row {
	out := row{Rule: r.ID, Provoked: provokes[r.ID]}
	if out.Provoked == "" {
		out.Provoked = provokes[r.Family]
	}
	add := func(planted string, http bool, versions string) {
		transport := "stdio"
		if http {
			transport = "HTTP"
		}
		out.Planted = append(out.Planted, planted+" ("+transport+"; "+strings.ReplaceAll(versions, " ", ", ")+")")
	}
	for _, d := range aside {
		if d.rule == r.ID {
			add(d.place, d.http, d.versions)
		}
	}
	for _, h := range held {
		if h.rule == r.ID {
			add(h.what, h.http, h.versions)
		}
	}
	for _, group := range defects {
		for _, defect := range strings.Fields(group.list) {
			if rule, what, _ := strings.Cut(defect, "/"); rule == r.ID {
				add("defect “"+what+"”", group.http, group.versions)
			}
		}
	}
	for _, c := range skillCases {
		if c.rule == r.ID {
			add(c.name, false, modern)
		}
	}
	if where := elsewhere[r.ID]; where != "" {
		out.Planted = append(out.Planted, where)
	}
	return out
}

// Each rule of the reference has a planted server, and the table of them is up to date.
func TestPlantedTable(t *testing.T) {
	t.Parallel()
	rules, err := ruleset.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var table []row
	for _, r := range rules.Rules {
		own := rowOf(r)
		if len(own.Planted) == 0 {
			t.Errorf("no server is planted that breaks the rule %s", r.ID)
		}
		table = append(table, own)
	}
	for name := range provokes {
		if !slices.Contains(rules.Names(), name) {
			t.Errorf("there is no family or rule %s", name)
		}
	}
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(table); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(tablePath, want.Bytes(), 0o644); err != nil { //nolint:gosec // as git makes it
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(tablePath); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is out of date (make generate): %v", tablePath, err)
	}
}
