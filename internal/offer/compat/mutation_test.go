package compat

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
)

// mutants are results of tools/list like those of real servers, with every member
// that MCP defines.
var mutants = []string{
	`{"tools":[{"name":"search","title":"Search","description":"Searches.","icons":[{"src":"https://example.com/a.png","mimeType":"image/png","sizes":["48x48"],"theme":"dark"}],
	 "annotations":{"title":"Search","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":true},"execution":{"taskSupport":"optional"},"_meta":{"example.com/a":1},
	 "inputSchema":{"type":"object","properties":{"query":{"type":"string","x-mcp-header":"Query"},"limit":{"type":"integer","minimum":1}},"required":["query"]},
	 "outputSchema":{"type":"object","properties":{"hits":{"type":"array","items":{"$ref":"#/$defs/hit"}}},"required":["hits"],"$defs":{"hit":{"type":"object","properties":{"id":{"type":"string"}}},"rest":{"type":"string"}}}}],
	 "_meta":{"example.com/b":true},"ttlMs":1000,"cacheScope":"private","resultType":"complete"}`,
	`{"tools":[{"name":"get","description":"Gets.","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"at":{"type":"array","items":[{"type":"number"},{"type":"number"}],"minItems":2}},"additionalProperties":false},
	 "outputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"kind":{"const":"a"},"value":{"anyOf":[{"type":"string","format":"date-time"},{"type":"null"}]},"tree":{"$ref":"#/definitions/tree"}},"definitions":{"tree":{"type":"object","properties":{"down":{"type":"array","items":{"$ref":"#/definitions/tree"}}}}},"additionalProperties":false}},
	 {"name":"put","inputSchema":{"type":"object"}}]}`,
	`{"tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"$id":"https://example.com/a","type":"object","properties":{"b":{"$ref":"#b"},"c":{"$ref":"c"},"d":{"$ref":"#/$defs/b"}},"$defs":{"b":{"$anchor":"b","type":"string"},"c":{"$id":"c","type":"object","properties":{"e":{"$ref":"#/properties/f"},"f":{"type":"boolean"}}}}}},
	 {"name":"b","inputSchema":{"type":"object"},"outputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"t":{"type":"array","prefixItems":[{"type":"string"}],"items":false},"m":{"type":"object","patternProperties":{"^x-":{"type":"string"}},"unevaluatedProperties":false},"i":{"if":{"type":"string"},"then":{"minLength":1},"else":{"type":"number"}},"k":{"contains":{"type":"string"},"minContains":2}},"dependentRequired":{"t":["m"]},"dependentSchemas":{"t":{"required":["i"]}}}}]}`,
}

// mutantValues replace members; mutantWords are added to schemas.
var (
	mutantValues = strings.Fields(`null 1 -1.5 "" "text" true false [] {} [null] ["a"] [{}] {"a":1} {"a":null} {"type":"string"} [{"type":"string"}]`)
	mutantWords  = strings.Fields("title description default examples deprecated readOnly writeOnly $comment $schema $id $anchor $dynamicAnchor $ref $dynamicRef " +
		"$recursiveRef $recursiveAnchor $defs definitions $vocabulary $async id type nullable enum const multipleOf maximum minimum exclusiveMaximum exclusiveMinimum " +
		"maxLength minLength pattern format formatMinimum formatMaximum contentEncoding contentMediaType contentSchema maxItems minItems uniqueItems items prefixItems " +
		"additionalItems contains maxContains minContains unevaluatedItems maxProperties minProperties required properties patternProperties additionalProperties " +
		"propertyNames dependencies dependentRequired dependentSchemas unevaluatedProperties allOf anyOf oneOf not if then else discriminator xml externalDocs example " +
		"x-mcp-header x-order")
	mutantTexts = map[string][]string{
		"$schema":        {`"http://json-schema.org/draft-04/schema#"`, `"https://json-schema.org/draft/2019-09/schema"`, `"https://json-schema.org/draft/2020-12/schema"`, `"http://json-schema.org/draft-06/schema"`, `"https://example.com/own"`},
		"$id":            {`"urn:x"`, `"urn:example:a"`, `"urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66"`, `"schema.json"`, `"https://example.com/a"`, `"https://example.com/other/"`, `"/a"`, `"#a"`, `"#"`, `"not a uri"`, `"a#"`},
		"$anchor":        {`"1"`, `"b"`, `"a b"`, `"_x"`, `"a.b"`, `"a:b"`, `"é"`},
		"$dynamicAnchor": {`"1"`, `"b"`, `"node"`},
		"$ref": {
			`"#"`, `"#/"`, `"#/$defs/nothing"`, `"#/definitions/tree"`, `"#/properties"`, `"#b"`, `"#nothing"`, `"https://example.com/a"`, `"https://example.com/x"`, `"other.json"`,
			`"http://json-schema.org/draft-07/schema#"`, `"https://json-schema.org/draft/2020-12/schema"`, `"#/$defs/b"`, `"#/required/0"`, `"#/%zz"`,
		},
		"$dynamicRef":       {`"#node"`, `"#"`, `"other"`},
		"$recursiveRef":     {`"#"`, `"other"`},
		"type":              {`"file"`, `"any"`, `["string","null"]`, `["string","any"]`, `"object"`, `"null"`},
		"nullable":          {`"true"`},
		"format":            {`"uuid"`, `"unknown"`, `"date"`},
		"formatMinimum":     {`"2020-01-01"`},
		"pattern":           {`"^[\\w-.]+$"`, `"("`, `"[z-a]"`, `"(?i)a"`, `"a{2,1}"`, `"\\p{L}"`, `"\\p{Nope}"`, `"(a)\\2"`, `"\\k<x>"`, `"(?<n>a)(?<n>b)"`, `"*"`, `"\\"`, `"[a"`, `"\\u{110000}"`},
		"patternProperties": {`{"(":{}}`, `{"(":{"type":"string"}}`, `{"\\d":null}`},
		"properties":        {`{"$id":{"type":"string"},"$ref":{"type":"string"},"id":{"type":"string"}}`, `{"a":{"$id":"https://example.com/a"}}`, `{"__proto__":{"type":"x"}}`, `{"a":{"$anchor":"b"}}`},
		"$defs":             {`{"loop":{"$ref":"#/$defs/loop"},"a":{"type":"x"}}`, `{"x":{"$anchor":"b"},"y":{"$anchor":"b"}}`, `{"x":{"$anchor":"1"}}`, `{"x":{"$id":"urn:x"}}`, `{"x":{"$id":"https://example.com/a"}}`},
		"x-mcp-header":      {`"Query"`, `"query"`, `"a b"`, `"Ü"`, `"Other"`},
		"enum":              {`["a","a"]`},
		"dependentRequired": {`{"a":"b"}`, `{"a":""}`, `{"a":5}`},
		"dependencies":      {`{"a":["b"]}`, `{"a":"b"}`, `{"a":{"type":"x"}}`},
		"allOf":             {`[{"type":"x"}]`, `[{"$ref":"#"}]`}, "anyOf": {`[true,{"type":"x"}]`, `[{"type":"x"}]`}, "oneOf": {`[{"type":"x"},{}]`},
		"items": {`{"type":"x"}`, `[{"type":"x"}]`}, "not": {`{"type":"x"}`}, "if": {`{"type":"x"}`}, "then": {`{"type":"x"}`}, "contains": {`{"type":"x"}`},
		"default": {`{"$id":"https://example.com/a"}`, `{"id":1}`}, "examples": {`[{"$id":1}]`, `{"$anchor":"1"}`}, "x-order": {`{"$anchor":"1"}`, `{"$id":"urn:x"}`},
		"nextCursor": {`"end"`}, "_meta": {`{"progressToken":true}`, `{"progressToken":1.5}`, `{"io.modelcontextprotocol/related-task":{}}`, `{"io.modelcontextprotocol/related-task":{"taskId":"a"}}`},
		"theme": {`"blue"`, `"light"`}, "taskSupport": {`"maybe"`, `"required"`}, "cacheScope": {`"public"`}, "resultType": {`"input_required"`},
		"tools": {},
	}
)

// mutatedLists returns lists with one to three mutations of a result of tools/list:
// every member replaced by values of other types, every keyword added to schemas, and
// random combinations of both.
func mutatedLists(t *testing.T) (lists []List) {
	t.Helper()
	add := func(page jsonv.Value) {
		if page.Lookup("tools").Kind() == jsonv.KindArray { // else there is no list
			l := List{Server: "server", Tools: page.Lookup("tools").List(), Pages: []jsonv.Value{page}}
			if page.Lookup("nextCursor").Kind() == jsonv.KindString {
				l.Pages = append(l.Pages, jsonv.Object())
			}
			lists = append(lists, l)
		}
	}
	var pages []jsonv.Value
	for _, text := range mutants {
		pages = append(pages, mustParse(t, text))
		add(pages[len(pages)-1])
	}
	values := func(word string) []string { return append(slices.Clone(mutantValues), mutantTexts[word]...) }
	for _, at := range members(pages[0], nil) {
		if slices.Contains(at, "outputSchema") && at[len(at)-1] != "outputSchema" {
			continue // see the words
		}
		add(changed(pages[0], at, jsonv.Value{}))
		for _, text := range values(at[len(at)-1]) {
			add(changed(pages[0], at, mustParse(t, text)))
		}
	}
	for _, member := range []string{"nextCursor", "ttlMs", "cacheScope", "resultType", "_meta"} {
		for _, text := range values(member) {
			add(changed(pages[1], []string{member}, mustParse(t, text)))
		}
	}
	for _, word := range mutantWords {
		for i, text := range values(word) {
			for j, at := range [][]string{
				{"tools", "0", "outputSchema", "properties", "hits"}, {"tools", "0", "outputSchema"}, {"tools", "0", "outputSchema", "$defs", "rest"}, {"tools", "0", "inputSchema", "properties", "limit"},
			} {
				if i < len(mutantValues) && j > 0 && (i+j)%4 != 0 {
					continue // the values of every type in one place, some of them in the others
				}
				add(changed(pages[0], append(at, word), mustParse(t, text)))
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 800 {
		page := pages[random.IntN(len(pages))]
		for range 1 + random.IntN(3) {
			all := members(page, nil)
			at := all[random.IntN(len(all))]
			word := at[len(at)-1]
			if v := valueAt(page, at); v.Kind() == jsonv.KindObject && random.IntN(2) == 0 {
				word = mutantWords[random.IntN(len(mutantWords))]
				at = append(slices.Clone(at), word)
			}
			some := values(word)
			v := mustParse(t, some[random.IntN(len(some))])
			if random.IntN(8) == 0 {
				v = jsonv.Value{}
			}
			page = changed(page, at, v)
		}
		add(page)
	}
	return lists
}

// members returns the paths of all members of objects and elements of arrays.
func members(v jsonv.Value, at []string) (out [][]string) {
	step := func(name string, e jsonv.Value) {
		path := append(slices.Clone(at), name)
		out = append(append(out, path), members(e, path)...)
	}
	for name, e := range v.Members() {
		step(name, e)
	}
	for i, e := range v.Elems() {
		step(string(rune('0'+i)), e)
	}
	return out
}

func valueAt(v jsonv.Value, at []string) jsonv.Value {
	for _, name := range at {
		if v.Kind() == jsonv.KindArray {
			v = v.At(int(name[0] - '0'))
		} else {
			v = v.Lookup(name)
		}
	}
	return v
}

// changed returns v with another value at a path; an absent one removes it.
func changed(v jsonv.Value, at []string, to jsonv.Value) jsonv.Value {
	if len(at) == 0 {
		return to
	}
	if v.Kind() == jsonv.KindArray {
		elems := slices.Clone(v.List())
		i := int(at[0][0] - '0')
		if elems[i] = changed(elems[i], at[1:], to); elems[i].IsAbsent() {
			elems = slices.Delete(elems, i, i+1)
		}
		return jsonv.Array(elems...)
	}
	if to := changed(v.Lookup(at[0]), at[1:], to); !to.IsAbsent() {
		return v.With(at[0], to)
	}
	return v.Without(at[0])
}
