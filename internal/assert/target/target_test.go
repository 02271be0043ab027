package target_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
)

func TestParseTarget(t *testing.T) {
	for text, canonical := range map[string]string{
		"result":                              "result",
		"$.result":                            "result",
		`$["result"].x`:                       "result.x",
		"result.content[0].text":              "result.content[0].text",
		`result.content[ 0 ]['text']`:         "result.content[0].text",
		"result.items[-1]":                    "result.items[-1]",
		"result.items[*].id":                  "result.items[*].id",
		"result.items[1:3]":                   "result.items[1:3]",
		"result.items[ : ]":                   "result.items[:]",
		"result.items[-2:]":                   "result.items[-2:]",
		"result.items[:2].id":                 "result.items[:2].id",
		`result["a b"]["\u00e9"]['\'']["\""]`: `result["a b"].é["'"]["\""]`,
		`result["\ud83d\ude00"]`:              "result.😀",
		`result["a.b"].c`:                     `result["a.b"].c`,
		`result[""]`:                          `result[""]`,
		"http.status":                         "http.status",
		"http.headers.content-type":           "http.headers.content-type",
		`http["headers"]["Content-Type"]`:     "http.headers.Content-Type",
		"duration_ms":                         "duration_ms",
		"steps.login.result.x":                "steps.login.result.x",
		"result._meta.größe2":                 "result._meta.größe2",
	} {
		target, err := target.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if target.Canonical() != canonical || target.String() != text {
			t.Errorf("%s: canonical %s, want %s", text, target.Canonical(), canonical)
		}
	}
}

// TestTargetErrors marks the position of the mistake with ‸.
func TestTargetErrors(t *testing.T) {
	for marked, want := range map[string]string{
		"‸":                                 "the path is empty",
		"‸$":                                "$ alone",
		"‸rsult.x":                          `unknown root "rsult" (did you mean "result"?)`,
		"$.‸rsult.x":                        `unknown root "rsult"`,
		"‸content[0]":                       `unknown root "content" (did you mean "result.content"?)`,
		"‸isError":                          `(did you mean "result.isError"?)`,
		"‸http":                             "http alone",
		"http.‸staus":                       `http has no "staus" (did you mean "status"?)`,
		"result.‸":                          "a name is missing",
		"result.‸.x":                        "two dots",
		"result.‸*":                         `unexpected "*"`,
		"result.‸0":                         "cannot start with a digit",
		"result.‸[0]":                       "missing after the dot",
		"result.‸@type":                     `unexpected "@"`,
		"result.‸$ref":                      `unexpected "$"`,
		"result‸ .x":                        `unexpected " "`,
		"result.content‸[0":                 "missing closing ]",
		"result.content‸[":                  "missing closing ]",
		"result.content[‸]":                 "empty",
		"result.content[‸text]":             "needs quotes",
		"result.content[‸?(@.x)]":           "do not support filters",
		"result.content[0‸,1]":              "one selector",
		"result.content[0‸ x]":              "",
		"result.content[1:2‸:3]":            "do not support a step",
		"result.content[‸01]":               "leading zeros",
		"result.content[‸-0]":               "minus before zero",
		"result.content[‸-]":                "minus sign",
		"result.content[‸9007199254740992]": "too large",
		`result[‸"abc]`:                     `missing closing "`,
		`result["a‸\x"]`:                    "unknown escape",
		`result["a‸\ud83d"]`:                "surrogate",
		"result[\"a‸\x01\"]":                "control character",
		"duration_ms.‸x":                    "duration_ms is a number: no path can follow it",
		"text‸[0]":                          "text is a string; index structured or result instead",
		"‸[0]":                              "starts with a name",
		"‸.result":                          "",
		"result‸]":                          `unexpected "]"`,
	} {
		offset := strings.Index(marked, "‸")
		text := strings.Replace(marked, "‸", "", 1)
		_, err := target.Parse(text)
		if err == nil {
			t.Errorf("%s is accepted", text)
			continue
		}
		if err.Offset != offset && want != "" || !strings.Contains(err.Msg, want) {
			t.Errorf("%s: offset %d %q, want %d %q", text, err.Offset, err.Msg, offset, want)
		}
	}
}

const toolResult = `{
	"content": [{"type": "text", "text": "{\"name\": \"Ada\", \"city\": {\"zip\": 1}}"}],
	"structuredContent": {"items": [{"id": 1}, {"id": 2}, {"name": "x"}], "city": {"name": "Oslo"}, "town": {"name": "Oslo"}, "isError": "no", "nothing": null},
	"_meta": {"a.b": [[1, 2], [3]]}
}`

func TestEval(t *testing.T) {
	o := result(t, toolResult)
	o.HTTPStatus, o.DurationMS, o.ResponseBytes = 200, 12.5, 99
	o.HTTPHeaders = value(t, `{"Content-Type": "application/json"}`)
	o.Notifications = []jsonv.Value{value(t, `{"method": "a"}`), value(t, `{"method": "b"}`)}
	o.Stderr = "warn\n"
	o.Server = value(t, `{"serverInfo": {"name": "s"}}`)
	o.Steps = value(t, `{"login": {"token": "t"}}`)
	for target, want := range map[string]string{
		"result.content[0].type":       `"text"`,
		"result.content[-1].type":      `"text"`,
		"result.isError":               `false`,
		"error":                        `null`,
		"text":                         `"{\"name\": \"Ada\", \"city\": {\"zip\": 1}}"`,
		"structured.items[*].id":       `[1,2]`,
		"structured.items[1:].id":      `[2]`,
		"structured.items[-1:].name":   `["x"]`,
		"structured.items[5:]":         `[]`,
		"structured.items[2:1]":        `[]`,
		"structured.items[-9:9].id":    `[1,2]`,
		"structured.city[*]":           `["Oslo"]`,
		"result.items[0].id":           `1`,      // structuredContent
		"result.name":                  `"Ada"`,  // text JSON
		"result.city.name":             `"Oslo"`, // structuredContent goes first
		"result.city.zip":              `1`,      // text JSON, which alone has it
		"result.nothing":               `null`,
		`result._meta["a.b"][*][0]`:    `[1,3]`,
		`result._meta["a.b"][*][*]`:    `[1,2,3]`,
		"notifications[*].method":      `["a","b"]`,
		"logs":                         `[]`,
		"duration_ms":                  `12.5`,
		"response_bytes":               `99`,
		"http.status":                  `200`,
		"http.headers.content-type":    `"application/json"`,
		`http.headers["CONTENT-TYPE"]`: `"application/json"`,
		"stderr":                       `"warn\n"`,
		"server.serverInfo.name":       `"s"`,
		"steps.login.token":            `"t"`,
	} {
		got, miss := eval(t, target, o)
		if miss != "" || !jsonv.Equal(got, value(t, want)) {
			t.Errorf("%s: got %s %s, want %s", target, got, miss, want)
		}
	}
}

func eval(t *testing.T, text string, o *target.Observation) (jsonv.Value, string) {
	t.Helper()
	parsed, err := target.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	v, miss := parsed.Eval(o)
	if miss == nil {
		return v, ""
	}
	if !v.IsAbsent() {
		t.Errorf("%s: a miss with the value %s", text, v)
	}
	return v, miss.String()
}

func TestMisses(t *testing.T) {
	plain := result(t, `{"content": [{"type": "text", "text": "hi"}, {"type": "image", "data": "x"}], "many": {"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10,"k":11,"l":12,"m":13,"odd key":14}, "none": [], "nil": null}`)
	rich := result(t, toolResult)
	failed := &target.Observation{Error: value(t, `{"code": -32601, "message": "Method not found"}`)}
	for _, c := range []struct {
		o            *target.Observation
		target, want string
	}{
		{plain, "result.content[0].txt", `result.content[0].txt: no key "txt" in result.content[0]; it has type, text (did you mean "text"?)`},
		{plain, "result.content[2].text", `result.content[2].text: no element 2 in result.content; it has 2 elements`},
		{plain, "result.content[-3]", `result.content[-3]: no element -3 in result.content; it has 2 elements`},
		{plain, "result.none[0]", `result.none[0]: no element 0 in result.none; it has 0 elements`},
		{plain, "result.content.text", `result.content.text: result.content is a list of 2 elements, so it has no key "text" (did you mean "result.content[0].text"?)`},
		{plain, "result.content[0].text.x", `result.content[0].text.x: result.content[0].text is text "hi", so it has no key "x"`},
		{plain, "result.nil.x", `result.nil.x: result.nil is null, so it has no key "x"`},
		{plain, "result.content[0][0]", `result.content[0][0]: result.content[0] is an object with type, text, not a list with an element 0`},
		{plain, "result.content[0][*].x", `result.content[0][*].x: in none of 2 elements; the first: result.content[0][*] is text "text", so it has no key "x"`},
		{plain, "result.content[*].txt", `result.content[*].txt: in none of 2 elements; the first: no key "txt" in result.content[*]; it has type, text (did you mean "text"?)`},
		{plain, "result.content[0].text[*]", `result.content[0].text[*]: result.content[0].text is text "hi", not a list`},
		{plain, "result.many.z", `result.many.z: no key "z" in result.many; it has a, b, c, d, e, f, g, h, i, j, k, l and 2 more`},
		{plain, "structured.x", `structured.x: the result has no structuredContent; it has content, many, none, nil`},
		{rich, "result.itms", `result.itms: no key "itms" in result; it has content, structuredContent, _meta; result.structuredContent has items, city, town, isError, nothing; the text content's JSON has name, city (did you mean "items"?)`},
		{rich, "result.items[9]", `result.items[9]: no element 9 in result.structuredContent.items; it has 3 elements`},
		{rich, "result.town.zip", `result.town.zip: no key "zip" in result.structuredContent.town; it has name`},
		{rich, "result.nextCursor", `result.nextCursor: no key "nextCursor" in result; it has content, structuredContent, _meta`},
		{rich, "error.code", `error.code: there is no error: the call returned a result`},
		{rich, "http.status", `http.status: there was no HTTP response`},
		{rich, "steps.x", `steps.x: the test has no earlier steps`},
		{failed, "result.content", `result.content: there is no result: the call returned error -32601 "Method not found"`},
		{failed, "text", `text: there is no result: the call returned error -32601 "Method not found"`},
		{failed, "error.mesage", `error.mesage: no key "mesage" in error; it has code, message (did you mean "message"?)`},
	} {
		if _, got := eval(t, c.target, c.o); got != c.want {
			t.Errorf("%s:\n%s", c.target, cmp.Diff(c.want, got))
		}
	}
}

func TestText(t *testing.T) {
	for res, want := range map[string]string{
		`{"content": [{"type":"text","text":"a"},{"type":"image","data":"x"},{"type":"text","text":"b"}]}`:                 `"a\nb"`,
		`{"content": [{"type":"text","text":""}]}`:                                                                         `""`,
		`{"contents": [{"uri": "x:", "text": "body"}]}`:                                                                    `"body"`,
		`{"messages": [{"role":"user","content":{"type":"text","text":"hi"}},{"role":"user","content":{"type":"image"}}]}`: `"hi"`,
	} {
		if got, miss := eval(t, "text", result(t, res)); miss != "" || !jsonv.Equal(got, value(t, want)) {
			t.Errorf("%s: %s %s", res, got, miss)
		}
	}
	for _, res := range []string{`{"content": []}`, `{"content": [{"type":"image","data":"x"}]}`, `{"messages": []}`} {
		if _, miss := eval(t, "text", result(t, res)); miss != "text: the result has no text block" {
			t.Errorf("%s: %s", res, miss)
		}
	}
	if _, miss := eval(t, "text", result(t, `{"content": "x"}`)); miss != `text: the result's content is text "x", not a list` {
		t.Error(miss)
	}
	if _, miss := eval(t, "text", result(t, `{"tools": []}`)); miss != "text: the result has no content; it has tools" {
		t.Error(miss)
	}
}

func FuzzTarget(f *testing.F) {
	for _, seed := range []string{"result.content[0].text", `$.result["a\u00e9"][*][1:-2]`, "http.headers.x-y", `result['\'']`, "text", "result[", "$"} {
		f.Add(seed)
	}
	o := &target.Observation{Result: jsonv.Object(jsonv.Member{Key: "content", Value: jsonv.Array(jsonv.Int(1))})}
	// Each seed reaches code that no other seed does.
	for _, seed := range []string{
		"\b",
		"tet",
		"$.t[\"\\udAAA",
		"http.hepders",
		"[8",
		"$.t[\"eu00\\-",
		"[:]",
		"\xe2\x9b\x11",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := target.Parse(text)
		if err != nil {
			if err.Offset < 0 || err.Offset > len(text) || err.Msg == "" {
				t.Fatalf("%q: offset %d of %d, %q", text, err.Offset, len(text), err.Msg)
			}
			return
		}
		again, err := target.Parse(parsed.Canonical())
		if err != nil || again.Canonical() != parsed.Canonical() {
			t.Fatalf("%q: canonical %q does not parse to itself: %v", text, parsed.Canonical(), err)
		}
		v, miss := parsed.Eval(o)
		w, miss2 := again.Eval(o)
		if (miss == nil) != (miss2 == nil) || !jsonv.Equal(v, w) || (miss != nil) != v.IsAbsent() {
			t.Fatalf("%q and %q differ: %s %s", text, parsed.Canonical(), v, w)
		}
	})
}

// value parses a JSON text.
func value(t *testing.T, text string) jsonv.Value {
	t.Helper()
	v, err := jsonv.Parse([]byte(text))
	if err != nil {
		t.Fatalf("bad JSON in the test: %v\n%s", err, text)
	}
	return v
}

// result makes an observation of a result.
func result(t *testing.T, text string) *target.Observation {
	t.Helper()
	return &target.Observation{Result: value(t, text)}
}
