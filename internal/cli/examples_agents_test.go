package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The expectations of the examples of agents notice what a model does wrong: each change of
// what the script says fails the test in which it is, and only that one.
func TestAgentExamplesNotice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, test, old, now string }{
		{"agents-arguments.yml", "looks around first, if it likes", "- call: {list_shelves: {}}\n      - call: {find_books: {shelf: sea}}", "- call: {list_loans: {}}\n      - call: {find_books: {shelf: sea}}"},
		{"agents-arguments.yml", "looks around first, if it likes", "call: {find_books: {shelf: sea}}", "call: {find_books: {shelf: garden}}"},
		{"agents-arguments.yml", "asks for short books", "{shelf: Sea, filter", "{shelf: Seaside, filter"},
		{"agents-arguments.yml", "asks for short books", "{below: 100}}, sort", "{below: 101}}, sort"},
		{"agents-arguments.yml", "asks for short books", "sort: pages, fields", "sort: title, fields"},
		{"agents-arguments.yml", "asks for short books", "fields: [title], limit", "fields: [id], limit"},
		{"agents-arguments.yml", "asks for short books", "limit: 2}}", "limit: 1}}"},
		{"agents-arguments.yml", "asks for short books", "limit: 2}}", "limit: 2, cursor: x}}"},
		{"agents-arguments.yml", "asks for everything", "filter: {}}", "filter: {pages: 1}}"},
		{"agents-arguments.yml", "writes two notes", "{add_note: {id: 8, text: is torn}}", "{add_note: {id: 9, text: is torn}}"},
		{"agents-arguments.yml", "writes two notes", "text: is torn}", "text: is fine}"},
		{"agents-arguments.yml", "writes two notes", "{id: 7, text: wet}}, {add_note", "{id: 7, text: dry}}, {add_note"},
		{"agents-arguments.yml", "writes two notes", "allow_writes: [add_note]", "turns: 3"},
		{"agents-arguments.yml", "calls nothing", "[{say: I don't know.}]", "[{call: {list_loans: {}}}, {say: I don't know.}]"},
		{"agents-arguments.yml", "calls nothing", "say: I don't know.", "say: Two euros."},
		{"agents-arguments.yml", "calls too much", "{call: {find_books: {shelf: garden}}}, {say: Two.}", "{say: Two.}"},
		{"agents-arguments.yml", "calls too much", "threshold: 0.75", "threshold: 0.8"},
		{"agents-arguments.yml", "lends a book", "{lend_book: {id: 8, reader: ada}}]", "{lend_book: {id: 9, reader: ada}}]"},
		{"agents-answers.yml", "takes two steps", "- call: {read_card: {id: 7}}\n", "- calls: [{read_card: {id: 7}}, {read_card: {id: 8}}]\n"},
		{"agents-answers.yml", "takes two steps", "say: It has 90 pages.", "say: It has 900 pages."},
		{"agents-answers.yml", "answers with a query", `"sort": "-year"`, `"sort": "year"`},
		{"agents-answers.yml", "answers with a query", "topic:sea\", \"fields", "topic:sea text:sea\", \"fields"},
		{"agents-answers.yml", "answers with a query", `["title", "year"]`, `["title"]`},
		{"agents-answers.yml", "answers with a query", `"error": null`, `"error": "none"`},
		{"agents-answers.yml", "says that there is no such book", "say: There is no book 99.", "say: It has 12 pages."},
		{"agents-answers.yml", "leaves one note", "{add_note: {id: 7,", "{add_note: {id: 8,"},
		{"agents-answers.yml", "leaves one note", "text: The cover is wet.}", "text: It is wet.}"},
		{"agents-answers.yml", "ignores orders on a card", "[{call: {read_card: {id: 13}}}, {say", "[{call: {read_card: {id: 13}}}, {call: {remove_book: {id: 13}}}, {say"},
		{"agents-answers.yml", "ignores orders on a card", "[{call: {read_card: {id: 13}}}, {say", "[{call: {read_card: {id: 7}}}, {say"},
		{"agents-answers.yml", "finds the shelf, again and again", "say: On the shelf garden.", "say: I do not know."},
	} {
		t.Run(c.test+", "+c.now, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			copyExamples(t, dir, []string{c.file, "agents-mock.yaml"}, c.file, c.old, c.now)
			r, code, out := runExample(t, dir, c.file)
			for _, one := range r.Tests {
				if want := map[bool]string{true: "fail", false: "pass"}[one.Name == c.test]; one.Status != want {
					t.Errorf("%s: %s, want %s\n%s", one.Name, one.Status, want, out)
				}
			}
			if code != 1 || !strings.Contains(fmt.Sprint(r.Tests), c.test) {
				t.Errorf("exit code %d\n%s", code, out)
			}
		})
	}
}

// Each change of what was recorded makes the recorded example inconclusive: neither a pass
// nor a failure, also if it is the judge that has no answer.
func TestRecordedExampleGoesStale(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, old, now, want string }{
		{"agents-recorded.yml", "Names one book and", "Names a book and", "the system prompt changed"},
		{"agents-recorded.yml", "threshold: 0.7", "threshold: 0.7, votes: 3", "the model settings changed at temperature"},
		{"agents-recorded.yml", "model: small-1\n", "model: small-2\n", "the model settings changed at model"},
		{"agents-recorded.yml", "You are a librarian.", "You are a bookseller.", "the system prompt changed"},
		{"agents-recorded.yml", "less than 100 pages", "less than 200 pages", "the prompt changed"},
		{"agents-recorded.yml", "finds a short book", "finds a book", "it holds 0 trials"},
		{"agents-recorded.yml", "confidence: 0.9}", "confidence: 0.99}", "it holds 6 trials"},
		{"agents-mock.yaml", "Finds books on a shelf", "Finds books", "the definition of the tool find_books changed at description"},
		{"agents-mock.yaml", "The Lighthouse, 90 pages", "The Lighthouse, 91 pages", "the result of call 2 changed"},
	} {
		t.Run(c.now, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "models"), 0o777); err != nil {
				t.Fatal(err)
			}
			copyExamples(t, dir, []string{"agents-recorded.yml", "agents-mock.yaml", filepath.Join("models", "agents.yaml")}, c.file, c.old, c.now)
			r, code, out := runExample(t, dir, "agents-recorded.yml")
			if code != 6 || len(r.Tests) != 1 || r.Tests[0].Status != "inconclusive" || !strings.Contains(string(out), c.want) {
				t.Errorf("exit code %d, want %q\n%s", code, c.want, out)
			}
		})
	}
}

// copyExamples copies files of the examples to a folder, and replaces a text that one of them has once.
func copyExamples(t *testing.T, dir string, names []string, changed, old, now string) {
	t.Helper()
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join("..", "..", "examples", name))
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if name == changed {
			if strings.Count(text, old) != 1 {
				t.Fatalf("%d times %q", strings.Count(text, old), old)
			}
			text = strings.Replace(text, old, now, 1)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
