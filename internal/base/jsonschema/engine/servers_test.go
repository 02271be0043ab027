package engine_test

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonschema/engine"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
)

const top = "../../../.."

// TestSchemasOfServers compares the engine with another implementation on the schemas that
// this project publishes and, in a deep run, on those of real servers: with a value that
// the schema suggests, and with 200 that differ from it a little.
func TestSchemasOfServers(t *testing.T) {
	t.Parallel()
	schemas := publishedSchemas(t)
	if testkit.Deep() {
		schemas = append(schemas, schemasOfServers(t)...)
	}
	pairs, valid := 0, 0
	for i, doc := range schemas {
		ours, theirs := compareCompiled(t, doc, engine.Options{Draft: engine.Draft2020, AssertFormat: i%2 == 0})
		if ours == nil {
			t.Errorf("%.200s is refused", doc)
			continue
		}
		g := generator{Rand: rand.New(rand.NewPCG(uint64(i), 5)), draft: engine.Draft2020}
		sample := jsonschema.Sample(doc)
		for j := range testkit.Count(20, 201) {
			v := sample
			for range min(j, 3) {
				v = g.changed(v)
			}
			pairs++
			if compareChecked(t, doc, ours, theirs, v) {
				valid++
			}
		}
	}
	if valid == 0 || valid == pairs {
		t.Errorf("%d of %d values are valid", valid, pairs)
	}
	t.Logf("%d schemas, %d pairs, %d valid", len(schemas), pairs, valid)
}

// publishedSchemas returns the schemas of this project's formats.
func publishedSchemas(t *testing.T) []jsonv.Value {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(top, "schemas", "*.json"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%d published schemas, %v", len(files), err)
	}
	var out []jsonv.Value
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonv.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// schemasOfServers returns the schemas of the tools of the servers that make servers
// installs.
func schemasOfServers(t *testing.T) []jsonv.Value {
	t.Helper()
	var out []jsonv.Value
	for _, server := range [][2]string{{"everything", "stdio"}, {"filesystem", t.TempDir()}, {"memory", ""}} {
		name, argument := server[0], server[1]
		program := filepath.Join(top, "testdata", "servers", "node_modules", "@modelcontextprotocol", "server-"+name, "dist", "index.js")
		for _, tool := range listTools(t, program, argument).Elems() {
			for _, key := range []string{"inputSchema", "outputSchema"} {
				if schema := tool.Lookup(key); !schema.IsAbsent() {
					out = append(out, schema)
				}
			}
		}
	}
	return out
}

// listTools starts a server and asks for its tools.
func listTools(t *testing.T, program, argument string) jsonv.Value {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", program, argument)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer in.Close()
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
	} {
		if _, err := in.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatalf("%s: no answer: %v", program, err)
		}
		var message struct{ ID json.Number }
		if json.Unmarshal(line, &message) != nil || message.ID != "2" {
			continue
		}
		v, err := jsonv.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		return v.Lookup("result", "tools")
	}
}

// changed returns a copy of a value with one part replaced, removed or added.
func (g generator) changed(v jsonv.Value) jsonv.Value {
	n := v.Len()
	switch {
	case v.Kind() == jsonv.KindObject && g.IntN(4) == 0:
		return v.With(g.name(), g.value(1))
	case n > 0 && v.Kind() == jsonv.KindObject:
		key := v.Keys()[g.IntN(n)]
		if g.IntN(4) == 0 {
			return v.Without(key)
		}
		return v.With(key, g.changed(v.Lookup(key)))
	case n > 0 && v.Kind() == jsonv.KindArray:
		list := v.List()
		i := g.IntN(n)
		list[i] = g.changed(list[i])
		return jsonv.Array(list...)
	case v.Kind() == jsonv.KindString && g.IntN(2) == 0:
		return jsonv.String(strings.Repeat(v.Text(), g.IntN(3)) + g.text())
	}
	return g.value(1)
}
