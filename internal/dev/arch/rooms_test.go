package arch_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// maxRooms is how many names below internal a newcomer can keep in mind. The page is a room
// of its own because nothing but a command may know of it.
const maxRooms = 15

// A room is a folder of packages under internal.
type room struct {
	purpose string
	imports []string // other rooms; "schemas", and of the command line only its flag kit
}

// rooms are all rooms. They form no cycle, so a change in one can only affect those
// that import it.
var rooms = map[string]room{
	"base":    {"values, texts, files, secrets, positions in YAML", nil},
	"process": {"child processes, their output and their end", []string{"base"}},
	"client":  {"the client half of MCP", []string{"base", "process"}},
	"model":   {"requests to language models", []string{"base"}},
	"offer":   {"what a server offers: lock files, changes, rules of clients", []string{"base", "client", "process", "report"}},
	"assert":  {"what must hold: targets, matchers, scores, snapshots", []string{"base", "offer"}},
	"server":  {"fake MCP servers and doubles of APIs", []string{"assert", "base", "client"}},
	"spec":    {"what a suite says: the language, the plan", []string{"assert", "base", "client", "offer", "process", "server"}},
	"report":  {"the record of a run, its formats, and those of findings", []string{"base"}},
	"run":     {"the execution of a plan; connections to its servers", []string{"assert", "base", "client", "model", "offer", "process", "report", "server", "spec"}},
	"tape":    {"recorded traffic of clients and servers", []string{"assert", "base", "client", "offer", "process", "run", "server", "spec"}},
	"ui":      {"the page of `mcptest ui`: sessions by hand, its requests, its files", []string{"base", "client", "offer", "run", "spec"}},
	"cli":     {"the commands of mcptest", []string{"assert", "base", "client", "model", "offer", "process", "report", "run", "schemas", "server", "spec", "tape", "ui"}},
	"dev":     {"tests and programs for those who change this repository", []string{"schemas"}},
	// The wing of MCP-AQL uses whole rooms of mcptest, and knows nothing of suites.
	"mcpaql": {"MCP-AQL: evidence, verdicts, live runs, commands", []string{"base", "cli/cmdutil", "client", "model", "process", "report", "server", "tape"}},
}

// insideModule returns the path of a room or folder in the module.
func insideModule(name string) string {
	if name == "schemas" {
		return name
	}
	return "internal/" + name
}

// roomOf returns the room of a package, "" outside internal.
func roomOf(pkg string) string {
	inside, ok := strings.CutPrefix(pkg, "internal/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(inside, "/")
	return name
}

func TestRooms(t *testing.T) {
	t.Parallel()
	if len(rooms) > maxRooms {
		t.Errorf("%d rooms, at most %d: find the room that has the concept", len(rooms), maxRooms)
	}
	used := map[string]bool{}
	for _, f := range loadTree(t) {
		from := roomOf(f.pkg)
		if from == "" || f.external {
			continue
		}
		if _, ok := rooms[from]; !ok {
			t.Errorf("%s is in no room: the rooms are %v", f.rel, slices.Sorted(maps.Keys(rooms)))
			continue
		}
		for _, ip := range f.imports {
			to, ok := ours(ip)
			if !ok || roomOf(to) == from {
				continue
			}
			i := slices.IndexFunc(rooms[from].imports, func(other string) bool {
				p := insideModule(other)
				return to == p || strings.HasPrefix(to, p+"/")
			})
			switch {
			case i >= 0:
				used[from+" "+rooms[from].imports[i]] = true
			case f.test && strings.HasPrefix(to, "internal/dev/"):
			default:
				t.Errorf("%s imports %s: room %s may import %v", f.rel, to, from, rooms[from].imports)
			}
		}
	}
	for name, r := range rooms {
		for _, other := range r.imports {
			if !used[name+" "+other] {
				t.Errorf("room %s may import %s and does not: remove it from the table", name, other)
			}
		}
	}
}

func TestRoomsHaveNoCycle(t *testing.T) {
	t.Parallel()
	left := maps.Clone(rooms)
	for len(left) > 0 {
		before := len(left)
		for name, r := range left {
			if !slices.ContainsFunc(r.imports, func(other string) bool {
				_, waits := left[strings.Split(other, "/")[0]]
				return waits && other != name
			}) {
				delete(left, name)
			}
		}
		if len(left) == before {
			t.Fatalf("a cycle among the rooms %v", slices.Sorted(maps.Keys(left)))
		}
	}
}
