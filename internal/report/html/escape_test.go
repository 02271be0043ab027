package html_test

import (
	"bytes"
	"errors"
	"go/format"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/valyala/quicktemplate/parser"
	"pgregory.net/rapid"

	"mcptest/internal/report/html"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// hostile are texts that end what they are written into, or begin something.
var hostile = []string{
	`"><zz-tag zz-attr="1">`, `' zz-attr='1`, ` zz-attr=1 `, "<zz-tag", "</pre></td></script></style><zz-tag/>", "&zz;&amp;&#34;", "<!--", "-->", "]]>", "`+{{.}}{%= x %}", "\x00\x1b[2J\u202e\xff",
	"javascript:alert(1)", "url(zz)", "a\nb\n\n c", `{"jsonrpc":"2.0","method":"<zz-tag>"}`, `{"error":{"code":-1,"message":"<zz-tag>"}}`, `[{"a":"<zz-tag>"}]`, "- <zz-tag>", "+ &zz;",
	`{"method":"tools/call","params":{"name":"<zz-tag>","arguments":{"a":"&zz;"}}}`, `no; if that is expected: - {target: "<zz-tag>"}`, `{"result":{"isError":true}}`, `[1,"<zz-tag>",{"b":[]}]`, strings.Repeat("<zz-tag>\n", 150),
}

// words are texts that a page treats in a special way.
var words = []string{"error", "warning", "user", "assistant", "to-server", "from-server", "exact", "subset", "api@v1", "exit status 0", "plain"}

// fill sets all fields of v at random.
func fill(r *rand.Rand, v reflect.Value, deep int) {
	switch v.Kind() {
	case reflect.String:
		texts := [][]string{hostile, hostile, words, {""}}[r.IntN(4)]
		if v.Type() == reflect.TypeFor[result.Status]() {
			texts = []string{"pass", "fail", "error", "skip", "inconclusive", hostile[0]}
		}
		v.SetString(texts[r.IntN(len(texts))])
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.IntN(5)) - 1)
	case reflect.Float64:
		v.SetFloat([]float64{0, 0.5, 1, 12.25, 1005, 1e22}[r.IntN(6)])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), deep)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(max(1, 4-deep)), 3))
		for i := range v.Len() {
			fill(r, v.Index(i), deep+1)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf([]time.Time{{}, time.Unix(1e9, 0)}[r.IntN(2)]))
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(r, v.Field(i), deep)
			}
		}
	}
}

// record returns a random run.
func record(r *rand.Rand) (*result.Run, render.Options) {
	run := &result.Run{}
	fill(r, reflect.ValueOf(run).Elem(), 0)
	cases := make([]*result.Case, r.IntN(5))
	for i := range cases {
		cases[i] = &result.Case{}
		fill(r, reflect.ValueOf(cases[i]).Elem(), 0)
		statuses := []*result.Status{&cases[i].Status}
		for j := range cases[i].Attempts {
			statuses = append(statuses, &cases[i].Attempts[j].Status)
		}
		for j := range cases[i].Phases {
			statuses = append(statuses, &cases[i].Phases[j].Status)
		}
		for _, s := range statuses {
			if *s == "" || *s == result.Status(hostile[0]) { // which a reader of records refuses
				*s = result.Fail
			}
		}
	}
	run.Cases = result.NewStored(cases...)
	if r.IntN(4) == 0 {
		run.Summary.Total = 1000 // written with fewer elements
	}
	return run, render.Options{Changed: hostile[r.IntN(len(hostile))], Changes: map[int]string{1: hostile[r.IntN(len(hostile))]}}
}

var (
	element = regexp.MustCompile(`<[^<>]*>`)
	quoted  = regexp.MustCompile(`"[^"]*"`)
	ours    = regexp.MustCompile(`^(<!DOCTYPE html>|</?[a-z][a-z0-9]*( +[a-zA-Z-]+(="")?)* ?/?>)$`)
	entity  = regexp.MustCompile(`&[^&;]{0,5};?`)
	code    = regexp.MustCompile(`(?s)<(style|script)>.*?</(style|script)>`)
)

// inactive fails if a page has an element, an attribute or an entity that no template has.
func inactive(t *rapid.T, page string) {
	page = code.ReplaceAllString(page, "")
	if rest := element.ReplaceAllString(page, ""); strings.ContainsAny(rest, "<>") {
		t.Fatalf("text that is half an element: %q", rest)
	}
	for _, tag := range element.FindAllString(page, -1) {
		if bare := quoted.ReplaceAllString(tag, `""`); !ours.MatchString(bare) || strings.Contains(bare, "zz") {
			t.Fatalf("the element %s", tag)
		}
	}
	for _, e := range entity.FindAllString(page, -1) {
		if !slices.Contains([]string{"&amp;", "&lt;", "&gt;", "&#34;", "&#39;", "&#43;", "&#10;"}, e) {
			t.Fatalf("the entity %q", e)
		}
	}
	if strings.Contains(page, "\x00") {
		t.Fatal("a NUL")
	}
}

// TestTextStaysText: text in any field of a record or a measurement is shown as text: it
// begins no element, no attribute and no entity.
func TestTextStaysText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		var page bytes.Buffer
		run, o := record(r)
		if err := html.Write(&page, run, o); err != nil {
			t.Fatal(err)
		}
		inactive(t, page.String())
		page.Reset()
		var s html.Sheet
		fill(r, reflect.ValueOf(&s).Elem(), 0)
		if err := s.Write(&page); err != nil {
			t.Fatal(err)
		}
		inactive(t, page.String())
	})
}

// TestOnlyEscapedValues: a template writes integers and sizes as they are, and everything
// else with a function of this package, of which only own does not escape.
func TestOnlyEscapedValues(t *testing.T) {
	tag := regexp.MustCompile(`\{%-?\s*([a-z0-9.=]+)`)
	own := regexp.MustCompile(`= (own\(.*?\)) -?%\}`)
	unescaped := map[string]int{}
	for _, name := range templates(t) {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range tag.FindAllStringSubmatch(string(source), -1) {
			if !strings.Contains(" = d f import func endfunc code space if elseif else endif for endfor switch case default endswitch ", " "+m[1]+" ") {
				t.Errorf("%s: {%%%s …%%}: write values with {%%= text(…) %%}", name, m[1])
			}
		}
		for _, call := range own.FindAllStringSubmatch(string(source), -1) {
			unescaped[name+" "+call[1]]++
		}
	}
	want := map[string]int{
		"page.qtpl own(pageStyle())":     1,
		"page.qtpl own(pageScript())":    1,
		"page.qtpl own(style.Policy())":  1,
		"page.qtpl own(script.Policy())": 1,
		"sheet.qtpl own(style)":          1,
		"traffic.qtpl own(style)":        1,
		"traffic.qtpl own(script)":       1,
	}
	if !maps.Equal(unescaped, want) {
		t.Errorf("templates print unescaped: %v, expected %v", unescaped, want)
	}
}

// TestOnlyMarkupIsPrinted: nothing but streamown writes to a template's writer, and only a
// Markup.
func TestOnlyMarkupIsPrinted(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil || len(names) == 0 {
		t.Fatal("no files", err)
	}
	writes := regexp.MustCompile(`.*\.([WNE]\(\)|RawString).*`)
	var found []string
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".qtpl.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, writes.FindAllString(string(source), -1)...)
	}
	want := "func streamown(w *quicktemplate.Writer, m markup.Markup) { _, _ = m.WriteTo(w.W()) }"
	if len(found) != 1 || found[0] != want {
		t.Errorf("writes without escaping: %q", found)
	}
}

// TestTemplatesAreMarkup: what a template shows is decided in Go. Its lines are as long as
// those of code, and its conditions have at most two parts.
func TestTemplatesAreMarkup(t *testing.T) {
	tags := regexp.MustCompile(`(?s)\{%.*?%\}`)
	logic := regexp.MustCompile(`\b(strings|fmt|cmp|slices|strconv)\.|(&&|\|\|).*(&&|\|\|)`)
	for _, name := range templates(t) {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(source), "\n") {
			if n := utf8.RuneCountInString(line); n > 120 {
				t.Errorf("%s:%d has %d columns", name, i+1, n)
			}
		}
		for _, tag := range tags.FindAllString(string(source), -1) {
			if !strings.Contains(tag, " import ") && logic.MatchString(tag) {
				t.Errorf("%s: %s: write a function", name, tag)
			}
		}
	}
}

// TestTemplatesAreCompiled: the Go files next to the templates are what the compiler
// makes of them.
func TestTemplatesAreCompiled(t *testing.T) {
	for _, name := range templates(t) {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := parser.ParseNoLineComments(&b, bytes.NewReader(source), name, "html"); err != nil {
			t.Fatal(err)
		}
		want, err := format.Source(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name + ".go"); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s.go is out of date (%v): go generate ./internal/report/html", name, err)
		}
	}
}

func templates(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("*.qtpl")
	if err != nil || len(names) == 0 {
		t.Fatal("no templates", err)
	}
	return names
}

// full is a writer with room for some bytes.
type full struct{ room int }

var errFull = errors.New("no space left")

func (w *full) Write(p []byte) (int, error) {
	if w.room -= len(p); w.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestFullDisk: a page that could not be written is an error, wherever it broke off.
func TestFullDisk(t *testing.T) {
	c := &result.Case{Name: "long", Status: result.Pass, Description: strings.Repeat("x", 80<<10)}
	run := &result.Run{Cases: result.NewStored(c, c, c)}
	for _, write := range []func(io.Writer) error{
		func(w io.Writer) error { return html.Write(w, run, render.Options{}) },
		html.Sheet{Title: strings.Repeat("x", 80<<10)}.Write,
	} {
		var page bytes.Buffer
		if err := write(&page); err != nil {
			t.Fatal(err)
		}
		for room := 0; room < page.Len(); room += 16 << 10 {
			if err := write(&full{room}); !errors.Is(err, errFull) {
				t.Errorf("room for %d of %d bytes: %v", room, page.Len(), err)
			}
		}
	}
}
