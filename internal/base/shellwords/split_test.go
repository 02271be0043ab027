package shellwords_test

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"mcptest/internal/base/shellwords"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func texts(words []shellwords.Word) []string {
	out := []string{}
	for _, w := range words {
		out = append(out, w.Text)
	}
	return out
}

func TestSplit(t *testing.T) {
	tests := map[string][]string{
		"":                           {},
		"  \t\n ":                    {},
		"# comment":                  {},
		"npm ci":                     {"npm", "ci"},
		"  a   b\t c \n":             {"a", "b", "c"},
		"\n\n a b # rest | not >":    {"a", "b"},
		"a#b c# '#d'":                {"a#b", "c#", "#d"},
		`a 'b c' "d e" f\ g`:         {"a", "b c", "d e", "f g"},
		`'' "" a''b`:                 {"", "", "ab"},
		`'a'"b"c\d`:                  {"abcd"},
		`"a\"b\\c\$d\e" '\n'`:        {`a"b\c$d\e`, `\n`},
		"a\\\nb \"c\\\nd\" 'e\\\nf'": {"ab", "cd", "e\\\nf"},
		"a \\\n b":                   {"a", "b"},
		"'a\nb'":                     {"a\nb"},
		`a\`:                         {`a\`},
		`echo \| '&&' ">" \;`:        {"echo", "|", "&&", ">", ";"},
		"a = b A=1":                  {"a", "=", "b", "A=1"},
		"echo ! { } if then":         {"echo", "!", "{", "}", "if", "then"},
		"./x --a=b=c -d":             {"./x", "--a=b=c", "-d"},
		"ünï 日本 'é ü'":               {"ünï", "日本", "é ü"},
		"a\rb":                       {"a\rb"},

		"echo $HOME ${HOME} $$ $":          {"echo", "$HOME", "${HOME}", "$$", "$"},
		"curl ${steps.x}/${a.b.c} ${x}":    {"curl", "${steps.x}/${a.b.c}", "${x}"},
		"a ${x:-two words} 'b ${c}'":       {"a", "${x:-two words}", "b ${c}"},
		`a "${x:-it's}" ${y:-"z"}`:         {"a", "${x:-it's}", `${y:-"z"}`},
		"a ${x:-${y:-z z}}q":               {"a", "${x:-${y:-z z}}q"},
		"a $${x y} \"$${z}\"":              {"a", "$${x y}", "$${z}"},
		"a ${x|y;z>(}":                     {"a", "${x|y;z>(}"},
		"echo $(date +%s | sort) `a; b`":   {"echo", "$(date +%s | sort)", "`a; b`"},
		`echo "$(echo "a ) b" ')' \))" x`:  {"echo", `$(echo "a ) b" ')' \))`, "x"},
		"echo $((1 + (2))) x":              {"echo", "$((1 + (2)))", "x"},
		"ls ~ ~/x a~ *.go a? [ab] [ x ] {": {"ls", "~", "~/x", "a~", "*.go", "a?", "[ab]", "[", "x", "]", "{"},
		"echo {a,b} {1..3} {x} $'a' a$":    {"echo", "{a,b}", "{1..3}", "{x}", "$a", "a$"},
		"bash -c 'cd x && ./run > log'":    {"bash", "-c", "cd x && ./run > log"},
	}
	for in, want := range tests {
		words, err := shellwords.Split(in)
		if err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		if diff := cmp.Diff(want, texts(words)); diff != "" {
			t.Errorf("%q:\n%s", in, diff)
		}
	}
}

func TestSplitErrors(t *testing.T) {
	const shell = "bash -c '…'"
	tests := []struct {
		in, msg, hint string
		offset        int
	}{
		{"a | b", "| is a shell operator", shell, 2},
		{"a|b", "| is a shell operator", shell, 1},
		{"a || b", "|| is a shell operator", shell, 2},
		{"a && b", "&& is a shell operator", shell, 2},
		{"a &", "& is a shell operator", shell, 2},
		{"a; b", "; is a shell operator", shell, 1},
		{"a > b", "> is a shell operator", shell, 2},
		{"a 2>&1", ">& is a shell operator", shell, 3},
		{"a >> b", ">> is a shell operator", shell, 2},
		{"a <<EOF", "<< is a shell operator", shell, 2},
		{"(a)", "( is a shell operator", shell, 0},
		{"é )", ") is a shell operator", shell, 3},
		{"a\nb", "a new line begins another command", shell, 1},
		{"a # x\nb", "a new line", shell, 5},
		{"! a", "! is a shell keyword", shell, 0},
		{" if true", "if is a shell keyword", shell, 1},
		{"{ a", "{ is a shell keyword", shell, 0},
		{"A=1 b", "a variable before the program", "env A=…", 0},
		{"a 'b", "the quote ' is not closed", "", 2},
		{`a "b\"`, `the quote " is not closed`, "", 2},
		{"a ${b", "${ is not closed by }", "single quotes", 2},
		{"a $${b", "$${ is not closed by }", "single quotes", 2},
		{`"$(a`, "$( is not closed by )", "single quotes", 1},
		{"`a", "` is not closed by `", "single quotes", 0},
		{`$(a "b)`, "the quote \" is not closed", "", 4},
		{"$(if)", "`if` must be followed by", "single quotes", 2},
		{"a\x00b", "NUL", "", 1},
	}
	for _, tt := range tests {
		words, err := shellwords.Split(tt.in)
		var se *shellwords.SplitError
		if !errors.As(err, &se) || words != nil {
			t.Errorf("%q: %v, %v", tt.in, texts(words), err)
			continue
		}
		if !strings.HasPrefix(se.Msg, tt.msg) && !strings.Contains(se.Msg, "NUL") || se.Offset != tt.offset || !strings.Contains(se.Hint, tt.hint) {
			t.Errorf("%q: %v, hint %q; want %d: %s, %s", tt.in, se, se.Hint, tt.offset, tt.msg, tt.hint)
		}
	}
	// quoted, they are names like any other
	for _, in := range []string{`'!' a`, `"if"`, `'A=1' b`, `\{ a`} {
		if _, err := shellwords.Split(in); err != nil {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestSplitExpansions(t *testing.T) {
	in := "x ~/a *.go ${v} \"$HOME\" '$no' \\$no `d` $(e f) {a,b} $'q' [a-z]? $1 \"$${w}*\" \\* a~"
	words, err := shellwords.Split(in)
	if err != nil {
		t.Fatal(err)
	}
	var got []shellwords.Expansion
	for _, w := range words {
		got = append(got, w.Expands...)
	}
	at := func(s string) int { return strings.Index(in, s) }
	want := []shellwords.Expansion{
		{Offset: 2, Text: "~"},
		{Offset: at("*"), Text: "*"},
		{Offset: at("$HOME"), Text: "$HOME"},
		{Offset: at("`d`"), Text: "`d`"},
		{Offset: at("$(e"), Text: "$(e f)"},
		{Offset: at("{a,b}"), Text: "{a,b}"},
		{Offset: at("$'q"), Text: "$'"},
		{Offset: at("[a-z]"), Text: "[a-z]"},
		{Offset: at("]?") + 1, Text: "?"},
		{Offset: at("$1"), Text: "$1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What is quoted by the rules of the shell comes back as it was.
func TestSplitUndoesQuoting(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := rapid.SliceOfN(rapid.String().Filter(func(s string) bool { return !strings.Contains(s, "\x00") }), 1, 5).Draw(rt, "words")
		var b strings.Builder
		for _, w := range want {
			if rapid.Bool().Draw(rt, "single") {
				b.WriteString("'" + strings.ReplaceAll(w, "'", `'\''`) + "' ")
			} else {
				b.WriteString(`"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`, "$", `\$`, "`", "\\`").Replace(w) + "\"\t")
			}
		}
		got, err := shellwords.Split(b.String())
		if err != nil || !slices.Equal(texts(got), want) {
			rt.Fatalf("%q: got %q, %v, want %q", b.String(), texts(got), err, want)
		}
	})
}

// FuzzSplit compares with the shell of the system wherever nothing is expanded.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"a b", "'a b' \"c\\\"d\" e\\ f", "a\\\nb", "a # c", "a \\", "'\\'", "\"\\a\\\\\"", "a\n\nb", "x 'y\nz'", "\\\n", "a\\\n#b", "a |b",
		"\"c\\\nd\" $x\\\ny",
		"${a b} $(c d) `e`", "a=b c", "$${x}", "~ * [a] {b,c}", "\"${x\"", "é\xff\r\v", "a''#b", "\\#a", "$'x'", "a\\\n\\\n b",
	} {
		f.Add(s)
	}
	sh, _ := exec.LookPath("sh")
	// Each reaches code that no other seed does.
	for _, seed := range []string{
		"$(\"\x99\x99\x99\x99\x99\xf3\"\"b\xd62ۛ\xd7mu\xa4\r",
		"}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, err := shellwords.Split(line)
		if err != nil {
			var se *shellwords.SplitError
			if !errors.As(err, &se) || se.Offset < 0 || se.Offset > len(line) || words != nil {
				t.Fatalf("%q: bad error %v", line, err)
			}
			return
		}
		plain := len(words) > 0 && !strings.Contains(line, "${")
		for _, w := range words {
			plain = plain && len(w.Expands) == 0
		}
		rest := strings.TrimLeft(line, " \t\n\\")
		if before := strings.TrimSuffix(line, rest); !plain || sh == "" || strings.Contains(before, "\n") || strings.HasPrefix(rest, "#") {
			return
		}
		want := texts(words)
		cmd := exec.Command(sh, "-c", "printf '%s\\000' "+line)
		cmd.Env = []string{"LC_ALL=C"}
		out, err := cmd.Output()
		got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q: got %q, sh has %q (%v)", line, want, got, err)
		}
	})
}
