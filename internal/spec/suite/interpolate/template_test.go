package interpolate_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mcptest/internal/spec/suite/interpolate"
)

func TestTemplates(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"plain", `"plain"`},
		{"$NAME $(x) {x} }{ $", `"$NAME $(x) {x} }{ $"`},
		{"${a}", "a"},
		{"x${a}y${b}", `"x" a "y" b`},
		{"${a.b-c_1}", "a.b-c_1"},
		{"$${a}", `"${a}"`},
		{"$$${a}", `"$${a}"`},
		{"$$ ${a}", `"$$ " a`},
		{"a$${b}${c}", `"a${b}" c`},
		{"${a:-}", "a=()"},
		{"${a:-x y}", `a=("x y")`},
		{"${a:-:-}", `a=(":-")`},
		{`${a:-{"x": {}}}`, `a=("{\"x\": {}}")`},
		{"${a:-${b}}", "a=(b)"},
		{"${a:-x${b:-y}z}", `a=("x" b=("y") "z")`},
		{"${a:-$${b}}", `a=("${b}")`},
		{"${case.a}", "case.a"},
		{"${case.first name}", "case.first name"},
		{"${case.a.b[0]}", "case.a.b[0]"},
		{"${case.größe:-x}", `case.größe=("x")`},
		{"${steps.a[-1].b}", "steps.a[-1].b"},
	} {
		got, err := interpolate.ShowTemplate(c.text)
		if err != nil || got != c.want {
			t.Errorf("%q: got %s, %v; want %s", c.text, got, err, c.want)
		}
	}
}

func TestBadTemplates(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"${", "0: \"${\" without a closing brace"},
		{"a ${b", "2: \"${\" without a closing brace"},
		{"${a:-{}", "0: \"${\" without a closing brace"},
		{"${}", "0: ${} is not a placeholder"},
		{"x${ a }", "1: ${ a } is not a placeholder"},
		{"${1}", "0: ${1} is not a placeholder"},
		{"${a b}", "0: ${a b} is not a placeholder"},
		{"${a:=b}", "0: ${a:=b} is not a placeholder"},
		{"${a:?}", "0: ${a:?} is not a placeholder"},
		{"${#a}", "0: ${#a} is not a placeholder"},
		{"${case.}", "0: ${case.} is not a placeholder"},
		{"${größe}", "0: ${größe} is not a placeholder"},
		{"ok ${a:-x ${}}", "10: ${} is not a placeholder"},
		{"${" + strings.Repeat("é ", 100) + "}", "0: ${" + strings.Repeat("é ", 28) + "é… is not a placeholder"},
	} {
		got, err := interpolate.ShowTemplate(c.text)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: got %q, %v; want %s", c.text, got, err, c.want)
		}
	}
}

// Text is split, never changed: text between placeholders is literal, and each placeholder
// has its position.
func TestTemplateKeepsItsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{"${a}", "${b:-c}", "${d:-${e}}", "$", "{", "}", " ", "x", "é", "$${"})).Draw(t, "pieces")
		text := strings.Join(pieces, "")
		spellings, offsets := interpolate.TemplateOffsets(text)
		for i, s := range spellings {
			if !strings.HasPrefix(text[offsets[i]:], s) {
				t.Fatalf("%q: %q is not at %d", text, s, offsets[i])
			}
		}
		if !strings.Contains(text, "${") && len(spellings) > 0 {
			t.Fatalf("%q: %q", text, spellings)
		}
	})
}

func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"${a}", "$${", "${a:-${b}}", "${case.x y[0]}", "${", "}", "${:-}"} {
		f.Add(s)
	}
	// Each seed reaches code that no other seed does.
	for _, seed := range []string{
		"${SSSSSSSg\x19\x0f?\xdd='\xc4\xda+mg\x1a\"\x14\x06+\xae\a\x81QtA\xfd\xf3}",
		"${B-l2}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		spellings, offsets := interpolate.TemplateOffsets(text)
		for i, s := range spellings {
			if offsets[i]+len(s) > len(text) || text[offsets[i]:offsets[i]+len(s)] != s {
				t.Fatalf("%q: %q is not at %d", text, s, offsets[i])
			}
		}
	})
}
