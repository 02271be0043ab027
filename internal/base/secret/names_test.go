package secret_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcptest/internal/base/secret"
)

// verdict lists what is known about a name, one word each.
func verdict(r *secret.Redactor, name string) string {
	const value = "Zx9-canary-77q"
	masks := func(text string) bool { return strings.Contains(r.String(text), secret.Mask) }
	learns := func(v string) bool {
		r := r.With()
		r.LearnHeader(name, v)
		return r.String("a "+v+" b") != "a "+v+" b"
	}
	var all []string
	for _, c := range []struct {
		word string
		is   bool
	}{
		{"name", secret.Name(name)},
		{"certain", secret.CertainName(name)},
		{"holds", secret.Holds(name)},
		{"path", secret.HoldsAt("structured." + name)},
		{"text", secret.HoldsText(name, "hunter2")},
		{"result", secret.HoldsText(name, "passed")},
		{"field", secret.HoldsField(name)},
		{"member", secret.HoldsMember(name)},
		{"header", secret.HoldsHeader(name)},
		{"inherited", secret.IsInherited(name, value)},
		{"inherited-word", secret.IsInherited(name, "hunterhunter")},
		{"learned", learns(value)},
		{"learned-word", learns("hunterhunter")},
		{"argument", len(secret.Arguments([]string{"--" + name, "hunter2"})) > 0},
		{"argument-digits", len(secret.Arguments([]string{"--" + name, "48213"})) > 0},
		{"json", masks(`{"` + name + `":"` + value + `"}`)},
		{"json-word", masks(`{"` + name + `":"swordfish"}`)},
		{"json-number", masks(`{"` + name + `":48213}`)},
		{"json-digits", masks(`{"` + name + `":"48213"}`)},
		{"json-object", masks(`{"` + name + `":{"value":"swordfish"}}`)},
		{"assigned", masks(name + "=" + value)},
		{"assigned-word", masks(name + "=swordfish")},
		{"colon", masks(name + ": " + value)},
		{"flag", masks("srv --" + name + " " + value)},
		{"query", masks("/a?" + name + "=" + value)},
		{"query-word", masks("/a?" + name + "=ab")},
		{"xml", masks("<" + name + ">" + value + "</" + name + ">")},
		{"under", masks(`{"secret":{"` + name + `":"` + value + `"}}`)},
	} {
		if c.is {
			all = append(all, c.word)
		}
	}
	return strings.Join(all, " ")
}

// TestNames pins what is known about each name of the table, alone and in compounds:
// testdata/names.txt has a line for each.
func TestNames(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("testdata", "names.txt"))
	if err != nil {
		t.Fatal(err)
	}
	r := secret.NewRedactor()
	for line := range strings.Lines(string(data)) {
		name, want, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		if got := verdict(r, name); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}
