package compat

import (
	"html"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/lists"
	"mcptest/internal/process/bundle"
)

// A List contains the definitions of a server.
type List struct {
	Server    string
	Installed string   // the name under which users install the server; "" if unknown
	Base      string   // the server of a suite that this is, or is a variant of
	Profiles  []string // of clients that get this list; nil: all
	Tools     []jsonv.Value
	Others    []Definition  // what is no tool
	Resources []jsonv.Value // that are among the others
	Pages     []jsonv.Value // the results that contained the tools; nil: unknown
	Handshake jsonv.Value   // the result of initialize or server/discover; absent: unknown
	Announces []string      // methods of lists that the server announces as changed whenever they are read
	Results   []Result      // of calls, if some are known
	Masked    []jsonv.Value // the tools in the form of a lock file, without secrets
	Locked    []jsonv.Value // the tools of the lock file; nil: there is none
	File      string        // its source file, for annotations
	Line      int
	Lines     map[string]int      // of the tools, by name
	Mask      func(string) string // hides secrets in findings; nil: there are none
	Bundle    *Bundle             // that contains the server; nil: none

	others []List // of other servers
}

// A Bundle is the bundle that contains a server.
type Bundle struct {
	*bundle.Bundle
	Given map[string]bool // options that the user sets
	Stray string          // what the server wrote before its first message; "" if nothing was
}

// A Result is what a call of a tool returned.
type Result struct {
	Tool  string
	Value jsonv.Value // with isError, content, structuredContent
}

// A Definition is a prompt, a resource or a resource template, or the instructions of
// the server. The rules on texts examine it.
type Definition struct {
	Subject string // "prompt greet"
	Def     jsonv.Value
}

// A place is a value in a list: of one tool, of something else, or of the list itself.
type place struct {
	tool    string
	subject string // for what is no tool
	pointer string // in the definition of the tool
	value   jsonv.Value
	line    int // of the manifest of the bundle; 0: it is not about that
}

// selectors find the values that a rule examines.
var selectors = map[string]func(List, Profile) []place{
	"tools": func(l List, _ Profile) []place { return []place{{value: jsonv.Array(l.Tools...)}} },
	"page": func(l List, _ Profile) []place {
		return lists.Map(l.Pages, func(page jsonv.Value) place { return place{value: page} })
	},
	"tool": func(l List, _ Profile) []place { return l.selectEach("", func(t jsonv.Value) jsonv.Value { return t }) },
	"name": func(l List, _ Profile) []place {
		return l.selectEach("/name", func(t jsonv.Value) jsonv.Value { return t.Lookup("name") })
	},
	"qualified_name": func(l List, p Profile) []place {
		return l.selectEach("/name", func(t jsonv.Value) jsonv.Value {
			return jsonv.String(strings.NewReplacer("{server}", l.Installed, "{tool}", t.Lookup("name").Text()).Replace(p.Qualified))
		})
	},
	"description": func(l List, _ Profile) []place {
		return l.selectEach("/description", func(t jsonv.Value) jsonv.Value { return jsonv.String(t.Lookup("description").Text()) })
	},
	"annotations": func(l List, _ Profile) []place {
		return l.selectEach("/annotations", func(t jsonv.Value) jsonv.Value { return objectOrEmpty(t.Lookup("annotations")) })
	},
	"input":  func(l List, _ Profile) []place { return l.selectSchemas("inputSchema") },
	"output": func(l List, _ Profile) []place { return l.selectSchemas("outputSchema") },
	"input_bytes": func(l List, _ Profile) []place {
		return l.selectEach("/inputSchema", func(t jsonv.Value) jsonv.Value { return measureSize(t.Lookup("inputSchema")) })
	},
	"tool_bytes":     func(l List, _ Profile) []place { return l.selectEach("", measureSize) },
	"input_schemas":  func(l List, _ Profile) []place { return l.selectSubschemas("inputSchema") },
	"output_schemas": func(l List, _ Profile) []place { return l.selectSubschemas("outputSchema") },
	"parameters": func(l List, _ Profile) []place {
		return l.selectParameters(func(_ string, def jsonv.Value) jsonv.Value { return def })
	},
	"parameter_names": func(l List, _ Profile) []place {
		return l.selectParameters(func(name string, _ jsonv.Value) jsonv.Value { return jsonv.String(name) })
	},
	"texts":     func(l List, _ Profile) []place { return l.selectTexts(read) },
	"sentences": func(l List, _ Profile) []place { return l.selectSentences() },
	"lower_texts": func(l List, _ Profile) []place {
		out := l.selectTexts(read)
		for i := range out {
			out[i].value = jsonv.String(simplify(out[i].value.Text()))
		}
		return out
	},
}

var sentenceEnd = lazy.Regexp(`[.!?;](?:\s+|$)|\n\s*(?:\n|[-*#])`)

// selectSentences selects the sentences of the texts that models read, in lower case.
func (l List) selectSentences() []place {
	var out []place
	for _, p := range l.selectTexts(read) {
		for _, s := range sentenceEnd().Split(p.value.Text(), -1) {
			if s = simplify(s); strings.Contains(s, " ") {
				out = append(out, place{tool: p.tool, subject: p.subject, pointer: p.pointer, value: jsonv.String(s)})
			}
		}
	}
	return out
}

// keepFaulty returns the places for which fault returns a text, with that text as their
// value.
func keepFaulty(places []place, fault func(place) string) []place {
	var out []place
	for _, p := range places {
		if text := fault(p); text != "" {
			p.value = jsonv.String(text)
			out = append(out, p)
		}
	}
	return out
}

// selectEach selects one value of each tool and skips absent ones.
func (l List) selectEach(pointer string, value func(jsonv.Value) jsonv.Value) []place {
	var out []place
	for i, t := range l.Tools {
		if v := value(t); !v.IsAbsent() {
			out = append(out, place{tool: l.findToolName(i), pointer: pointer, value: v})
		}
	}
	return out
}

func (l List) selectSchemas(member string) []place {
	return l.selectEach("/"+member, func(t jsonv.Value) jsonv.Value { return t.Lookup(member) })
}

// measureSize returns the number of bytes of a value as JSON.
func measureSize(v jsonv.Value) jsonv.Value {
	if v.IsAbsent() {
		return v
	}
	return jsonv.Int(int64(len(v.Append(nil))))
}

func (l List) selectParameters(value func(name string, def jsonv.Value) jsonv.Value) []place {
	var out []place
	for i, t := range l.Tools {
		for name, def := range t.Lookup("inputSchema", "properties").Members() {
			out = append(out, place{tool: l.findToolName(i), pointer: jsonv.AppendPointer("/inputSchema/properties", name), value: value(name, def)})
		}
	}
	return out
}

// selectSubschemas selects a schema and every schema inside it.
func (l List) selectSubschemas(member string) []place {
	var out []place
	for _, p := range l.selectSchemas(member) {
		jsonschema.Walk(p.value, p.pointer, func(pointer, keyword string, s jsonv.Value) bool {
			if keyword == "dependencies" {
				return false // no client that the rules describe looks into it
			}
			out = append(out, place{tool: p.tool, pointer: pointer, value: s})
			return true
		})
	}
	return out
}

// selectTexts selects the wanted texts of each tool (names, titles, descriptions, and the
// texts in the schemas: property names, descriptions, enum values, defaults,
// examples), and all wanted texts of what is no tool.
func (l List) selectTexts(wanted func(pointer string) bool) []place {
	var out []place
	for _, d := range l.Others {
		collectTexts(d.Def, "", 0, func(pointer, text string) {
			if wanted(pointer) {
				out = append(out, place{subject: d.Subject, pointer: pointer, value: jsonv.String(text)})
			}
		})
	}
	for i, t := range l.Tools {
		for _, member := range []string{"name", "title", "description", "annotations", "inputSchema", "outputSchema", "_meta", "icons"} {
			collectTexts(t.Lookup(member), "/"+member, 0, func(pointer, text string) {
				if wanted(pointer) {
					out = append(out, place{tool: l.findToolName(i), pointer: pointer, value: jsonv.String(text)})
				}
			})
		}
	}
	return out
}

// read reports whether a model reads the text as a sentence.
func read(pointer string) bool {
	if strings.HasPrefix(pointer, "/icons") {
		return false
	}
	for _, key := range []string{"/$schema", "/$ref", "/pattern"} {
		if strings.HasSuffix(pointer, key) {
			return false
		}
	}
	return true
}

func every(string) bool { return true }

// latin contains the letters that lookalikes represent, in the same order.
const (
	lookalikes = "аеорсухіјѕһԁԛԝӏАВЕКМНОРСТХІЈЅԌԚԜαινοκρυωΑΒΕΖΗΙΚΜΝΟΡΤΥΧօսզԱՕՏ" +
		"ıİȷɡɑɩſᴀᴄᴇᴏᴘꜱᴛᴜᴠᴡᴢɪɴʀʟⅰⅴⅹⅼⅽⅾⅿℓ" // Latin, too
	latin = "aeopcyxijshdqwlabekmhopctxijsgqwaivokpuwabezhikmnoptyxouqaos" +
		"iijgaisaceopstuvwzinrlivxlcdml"
)

var toLatin = sync.OnceValue(func() map[rune]rune {
	out := map[rune]rune{}
	for i, r := range []rune(lookalikes) {
		out[r] = rune(latin[i])
	}
	return out
})

var escapes = lazy.Regexp(`(%[0-9A-Fa-f]{2}){3,}|\\u00[0-7][0-9A-Fa-f]`)

// simplify returns a text as a model understands it: in lowercase Latin letters, without
// lookalikes, escapes, and separators other than single spaces.
func simplify(text string) string {
	if strings.Contains(text, "&#") {
		text = html.UnescapeString(text)
	}
	if strings.ContainsAny(text, `%\`) {
		text = escapes().ReplaceAllStringFunc(text, func(s string) string {
			if c, err := strconv.ParseUint(strings.TrimPrefix(s, `\u`), 16, 8); err == nil {
				return string(rune(c))
			}
			out, _ := url.PathUnescape(s)
			return out
		})
	}
	mixed := strings.ContainsFunc(text, func(r rune) bool { return r >= 'a' && r <= 'z' })
	text = strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII && mixed && toLatin()[r] != 0 {
			return toLatin()[r]
		}
		return foldWidth(r)
	}, text)
	return strings.Join(strings.Fields(strings.ToLower(text)), " ")
}

// foldWidth returns the ASCII character of a full-width form.
func foldWidth(r rune) rune {
	if r >= 0xff01 && r <= 0xff5e {
		return r - 0xff01 + '!'
	}
	return r
}

func collectTexts(v jsonv.Value, pointer string, depth int, add func(pointer, text string)) {
	if depth > jsonschema.MaxDepth {
		return
	}
	if v.Kind() == jsonv.KindString {
		add(pointer, v.Text())
	}
	for key, e := range v.Children() {
		at := jsonv.AppendPointer(pointer, key)
		if v.Kind() == jsonv.KindObject && strings.HasSuffix(pointer, "/properties") {
			add(at, key)
		}
		collectTexts(e, at, depth+1, add)
	}
}

func nameOf(t jsonv.Value) string { return t.Lookup("name").Text() }

// findToolName returns the name of a tool in findings, even for a tool without a name.
func (l List) findToolName(i int) string {
	if name := nameOf(l.Tools[i]); name != "" {
		return name
	}
	return "(tool " + strconv.Itoa(i+1) + ")"
}

func objectOrEmpty(v jsonv.Value) jsonv.Value {
	if v.Kind() == jsonv.KindObject {
		return v
	}
	return jsonv.Object()
}
