package dotenv_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite/dotenv"
)

func parse(text string) ([]dotenv.Var, source.Diagnostics) {
	return dotenv.Parse(&source.File{Name: ".env", Data: []byte(text)}, regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`).MatchString)
}

func TestDotEnv(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       map[string]string
	}{
		{"empty", "", nil},
		{"comments", "# a\n\n  # b\n", nil},
		{"plain", "A=1\nB = two words \nC=", map[string]string{"A": "1", "B": "two words", "C": ""}},
		{"export", "export A=1\n\texport\tB=2\nexport=3", map[string]string{"A": "1", "B": "2", "export": "3"}},
		{"crlf", "A=1\r\nB='x'\r\nC=\"y\"\r\n", map[string]string{"A": "1", "B": "x", "C": "y"}},
		{"comment behind", "A=1 # x\nB=a#b\nC=#\nD='x' # y\nE=\t# z", map[string]string{"A": "1", "B": "a#b", "C": "", "D": "x", "E": ""}},
		{"single", `A='$B "x" \n'`, map[string]string{"A": `$B "x" \n`}},
		{"double", `A="a\nb\t\"c\" \\ \$ \` + "`" + ` \x $B"`, map[string]string{"A": "a\nb\t\"c\" \\ $ ` \\x $B"}},
		{"lines", "A='one\ntwo'\nB=\"three\nfour\"\nC=5", map[string]string{"A": "one\ntwo", "B": "three\nfour", "C": "5"}},
		{"nothing is expanded", "A=1\nB=$A ${A}\nC=\"${A}\"", map[string]string{"A": "1", "B": "$A ${A}", "C": "${A}"}},
		{"equals signs", "A=b=c==", map[string]string{"A": "b=c=="}},
		{"quotes inside", `A=it's "so"`, map[string]string{"A": `it's "so"`}},
		{"utf-8", "A=größer", map[string]string{"A": "größer"}},
	} {
		vars, diags := parse(c.text)
		got := map[string]string{}
		for _, v := range vars {
			got[v.Name] = v.Value
		}
		if c.want == nil {
			c.want = map[string]string{}
		}
		if d := cmp.Diff(c.want, got); d != "" || len(diags) > 0 {
			t.Errorf("%s: %v\n%s", c.name, diags, d)
		}
	}
}

// A message never repeats the content of the file: it may be a password.
func TestDotEnvMessagesKeepSecrets(t *testing.T) {
	for _, text := range []string{
		"hunter2", "=hunter2", "A='hunter2", "A=\"hunter2", "A='x' hunter2", "1A=hunter2", "A B=hunter2", "A='hunter2\x00'", "A=hunter2\x00",
	} {
		_, diags := parse(text)
		if len(diags) != 1 || strings.Contains(diags.Error(), "hunter2") || diags[0].Pos.Line != 1 {
			t.Errorf("%q: %v", text, diags)
		}
		var out strings.Builder
		diags.Print(&out, source.Style{})
		if strings.Contains(out.String(), "hunter2") {
			t.Errorf("%q: %s", text, out.String())
		}
	}
}

func FuzzDotEnv(f *testing.F) {
	for _, s := range []string{"A=1\n", "export A='x\ny' # z\n", "A=\"\\n\"", "=", "A='", "\"", "#", "A=\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		vars, diags := parse(text)
		lines := strings.Count(text, "\n") + 1
		for _, v := range vars {
			if v.Name == "" || strings.ContainsAny(v.Name, "= \t\n") || strings.ContainsRune(v.Value, 0) {
				t.Fatalf("%q: %q", text, v)
			}
			if v.Pos.Line < 1 || v.Pos.Line > lines {
				t.Fatalf("%q: %s at line %d", text, v.Name, v.Pos.Line)
			}
		}
		for _, d := range diags {
			if d.Pos.Line < 1 || d.Pos.Line > lines {
				t.Fatalf("%q: %v", text, d)
			}
		}
		if len(vars)+len(diags) > 2*lines {
			t.Fatalf("%q: %d entries, %d diagnostics", text, len(vars), len(diags))
		}
	})
}
