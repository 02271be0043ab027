package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dlclark/regexp2"
	library "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"mcptest/internal/base/jsonschema/engine"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
)

// oracle is another implementation of JSON Schema.
type oracle struct{ compiled *library.Schema }

const oracleURI = "schema:///schema.json"

func newOracle(doc jsonv.Value, o engine.Options) (*oracle, error) {
	c := library.NewCompiler()
	c.DefaultDraft(map[engine.Draft]*library.Draft{
		engine.Draft4: library.Draft4, engine.Draft6: library.Draft6, engine.Draft7: library.Draft7,
		engine.Draft2019: library.Draft2019, engine.Draft2020: library.Draft2020,
	}[o.Draft])
	// With a vocabulary of its own the library checks schemas against the same
	// metaschemas as the engine.
	c.RegisterVocabulary(&library.Vocabulary{
		URL:     "urn:mcptest:nothing",
		Compile: func(*library.CompilerContext, map[string]any) (library.SchemaExt, error) { return nil, nil },
	})
	c.AssertVocabs()
	if o.AssertFormat {
		c.AssertFormat()
	}
	c.UseLoader(library.SchemeURLLoader{})
	c.UseRegexpEngine(compileECMA)
	if err := c.AddResource(oracleURI, forLibrary(doc)); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(oracleURI)
	return &oracle{compiled}, err
}

// compileECMA compiles patterns that package regexp does not support too.
func compileECMA(pattern string) (library.Regexp, error) {
	if re, err := regexp.Compile(pattern); err == nil {
		return re, nil
	}
	re, err := regexp2.Compile(pattern, regexp2.ECMAScript|regexp2.Unicode)
	return ecma{re}, err
}

type ecma struct{ *regexp2.Regexp }

func (e ecma) MatchString(text string) bool {
	ok, err := e.Regexp.MatchString(text)
	return ok && err == nil
}

func forLibrary(v jsonv.Value) any {
	out, err := library.UnmarshalJSON(bytes.NewReader(v.Append(nil)))
	if err != nil {
		panic(err)
	}
	return out
}

// check lists what a value fails, in the form of [shown].
func (o *oracle) check(v jsonv.Value) []string {
	var failed *library.ValidationError
	if !errors.As(o.compiled.Validate(forLibrary(v)), &failed) {
		return nil
	}
	return distinctLines(leaves(failed))
}

// leaves lists the failed keywords in an error of the library.
func leaves(e *library.ValidationError) []string {
	_, place, _ := strings.Cut(e.SchemaURL, "#")
	place, _ = url.PathUnescape(place)
	at := "/" + strings.Join(e.InstanceLocation, "/")
	path := strings.Join(e.ErrorKind.KeywordPath(), "/")
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		return leavesOf(e.Causes)
	case *kind.RefCycle:
		return []string{"endless"}
	case *kind.PropertyNames: // the library loses the place of the object
		return []string{"name " + k.Property + " " + place}
	case *kind.Not:
		path = "not"
	case *kind.Dependency:
		path = "dependencies/" + k.Prop
	case *kind.AnyOf:
		return append(leavesOf(e.Causes), at+" "+place+"/"+path)
	case *kind.OneOf:
		return append(leavesOf(e.Causes), at+" "+place+"/"+path)
	}
	if path != "" {
		place += "/" + path
	}
	return []string{at + " " + place}
}

func leavesOf(causes []*library.ValidationError) []string {
	var out []string
	for _, c := range causes {
		out = append(out, leaves(c)...)
	}
	return out
}

// shown lists failures as the place of the value and that of the keyword.
func shown(failures []engine.Failure) []string {
	var out []string
	for _, f := range failures {
		switch {
		case f.Endless:
			out = append(out, "endless")
			continue
		case f.Keyword == "propertyNames":
			out = append(out, "name "+f.Name+" "+f.Place.Pointer)
			continue
		}
		for _, alternative := range f.Alternatives {
			out = append(out, shown(alternative)...)
		}
		out = append(out, "/"+strings.Join(f.At, "/")+" "+f.Place.Pointer)
	}
	return distinctLines(out)
}

func distinctLines(lines []string) []string {
	slices.Sort(lines)
	return slices.Compact(lines)
}

// compareCompiled compiles a schema with the engine and with the library, and returns nil
// if both refuse it.
func compareCompiled(t *testing.T, doc jsonv.Value, o engine.Options) (*engine.Schema, *oracle) {
	t.Helper()
	o.BaseURI = oracleURI
	ours, err := engine.Compile(doc, o)
	theirs, theirErr := newOracle(doc, o)
	if (err != nil) != (theirErr != nil) {
		t.Errorf("draft %d, %s: %v; the library: %v", o.Draft, doc, err, theirErr)
	}
	if err != nil || theirErr != nil {
		var bad *engine.Error
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v", doc, err)
		}
		return nil, nil
	}
	return ours, theirs
}

// compareChecked compares the verdicts and the places of failures.
func compareChecked(t *testing.T, doc jsonv.Value, ours *engine.Schema, theirs *oracle, v jsonv.Value) (valid bool) {
	t.Helper()
	failures, err := ours.Check(context.Background(), v)
	if err != nil {
		t.Errorf("%s on %s: %v", doc, v, err)
		return false
	}
	got, want := shown(failures), theirs.check(v)
	if !slices.Equal(got, want) {
		t.Errorf("%s on %s:\n%s\nthe library:\n%s", doc, v, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	fits, err := ours.Fits(context.Background(), []jsonv.Value{v})
	if err != nil || fits[0] != (len(failures) == 0) {
		t.Errorf("%s on %s: fits %v %v, with %d failures", doc, v, fits, err, len(failures))
	}
	return len(failures) == 0
}

// TestRandomPairs compares the engine with another implementation, on random schemas and
// values. Known differences are not generated: keywords next to a $ref before 2019-09, which
// the specification ignores; references in propertyNames; and invalid schemas in schemas of
// 2019-09, which the library does not find.
func TestRandomPairs(t *testing.T) {
	t.Parallel()
	pairs, valid, refused := 0, 0, 0
	for i := 0; pairs < testkit.Count(2_000, 100_000) && !t.Failed(); i++ {
		draft := []engine.Draft{engine.Draft4, engine.Draft6, engine.Draft7, engine.Draft2019, engine.Draft2020}[i%5]
		g := generator{Rand: rand.New(rand.NewPCG(uint64(i), 1)), draft: draft, wrong: i%4 == 0 && draft != engine.Draft2019}
		doc := g.document()
		ours, theirs := compareCompiled(t, doc, engine.Options{Draft: draft, AssertFormat: i%3 == 0})
		if ours == nil {
			refused++
			continue
		}
		for range 10 {
			pairs++
			if compareChecked(t, doc, ours, theirs, g.value(3)) {
				valid++
			}
		}
	}
	if valid < pairs/10 || valid > pairs*9/10 || refused == 0 {
		t.Errorf("%d of %d pairs are valid, %d schemas are refused: such inputs show little", valid, pairs, refused)
	}
	t.Logf("%d pairs, %d valid, %d schemas refused", pairs, valid, refused)
}

// TestFormatsAgree compares the formats on texts near valid ones.
func TestFormatsAgree(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for format, texts := range formatTexts {
		doc := jsonv.ObjectOf("format", format)
		theirs, err := newOracle(doc, engine.Options{Draft: engine.Draft7})
		if err != nil {
			t.Fatal(err)
		}
		check := engine.Format(format)
		valid := 0
		for range testkit.Count(500, 20_000) {
			text := mutated(r, texts[r.IntN(len(texts))])
			want := theirs.compiled.Validate(text) == nil
			if got := check(text); got != want {
				t.Errorf("%s %q: %v, the library %v", format, text, got, want)
			}
			if want {
				valid++
			}
		}
		if valid == 0 {
			t.Errorf("no valid %s was tried", format)
		}
	}
}

// formatTexts are texts of each format.
var formatTexts = map[string][]string{
	"date":                  {"2026-11-05", "2024-02-29", "2023-02-29"},
	"time":                  {"23:59:60Z", "09:30:00.25+01:00", "22:59:60-01:00", "00:29:60+00:30", "24:00:00Z"},
	"date-time":             {"2026-11-05T09:30:00Z", "2026-11-05t09:30:00.1-23:59"},
	"duration":              {"P1Y2M3DT4H5M6S", "P3W", "PT1S", "P1M", "P"},
	"period":                {"2026-11-05T09:30:00Z/P1D", "P1D/2026-11-05T09:30:00Z", "2026-11-05T09:30:00Z/2026-11-06T09:30:00Z"},
	"email":                 {"ada@example.com", `"a b"@example.com`, "a.b+c@[127.0.0.1]", "a@[IPv6:::1]", "@b"},
	"hostname":              {"example.com", "a-b.c.", "xn--a", strings.Repeat("a", 63) + ".b"},
	"ipv4":                  {"192.0.2.1", "255.255.255.255", "0.0.0.0"},
	"ipv6":                  {"2001:db8::1", "::ffff:1.2.3.4", "fe80::1%eth0"},
	"uri":                   {"https://example.com/a?b#c", "urn:a:b", "http://[::1]:80/", "//a/b"},
	"iri":                   {"https://example.com/é", "a:b"},
	"uri-reference":         {"../a b", "#x", "http://[::1]/", `a\b`},
	"iri-reference":         {"é", "/a/b"},
	"uri-template":          {"http://a/{b}/{c}", "/%7Ba/%7B%7D", "{a", "/{a}{b}é"},
	"json-pointer":          {"", "/a/0", "/~0~1", "a"},
	"relative-json-pointer": {"0", "1/a", "10#", "01"},
	"uuid":                  {"00000000-0000-4000-8000-00000000000F"},
	"semver":                {"1.2.3", "1.0.0-rc.1+b.7", "0.0.1-0", "1.0.0-01"},
}

// mutated changes up to three characters of a text.
func mutated(r *rand.Rand, text string) string {
	chars := []rune(text)
	for range r.IntN(4) {
		i := r.IntN(len(chars) + 1)
		c := []rune("0159abZP.-:/+@~#[]{}%T W\\é")[r.IntN(26)]
		switch {
		case i == len(chars) || r.IntN(3) == 0:
			chars = slices.Insert(chars, i, c)
		case r.IntN(2) == 0:
			chars = slices.Delete(chars, i, i+1)
		default:
			chars[i] = c
		}
	}
	return string(chars)
}

// TestErrorsAgree: what is wrong with a schema is found in the same places.
func TestErrorsAgree(t *testing.T) {
	t.Parallel()
	for i := range testkit.Count(250, 10_000) {
		draft := []engine.Draft{engine.Draft4, engine.Draft6, engine.Draft7, engine.Draft2020}[i%4]
		g := generator{Rand: rand.New(rand.NewPCG(uint64(i), 3)), draft: draft, wrong: true}
		doc := g.document()
		o := engine.Options{Draft: draft, BaseURI: oracleURI}
		_, err := engine.Compile(doc, o)
		_, theirErr := newOracle(doc, o)
		var bad *engine.Error
		var invalid *library.SchemaValidationError
		var failed *library.ValidationError
		if !errors.As(theirErr, &invalid) || !errors.As(invalid.Err, &failed) {
			continue
		}
		if !errors.As(err, &bad) || bad.Failures == nil {
			t.Errorf("%s: %v; the library: %v", doc, err, theirErr)
			continue
		}
		got, want := places(shown(bad.Failures)), places(distinctLines(leaves(failed)))
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nthe library:\n%s", doc, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// places keeps the places of values: the metaschemas of the two differ in how they are
// divided.
func places(lines []string) []string {
	var out []string
	for _, line := range lines {
		at, _, _ := strings.Cut(line, " ")
		out = append(out, fmt.Sprint(at))
	}
	return distinctLines(out)
}
