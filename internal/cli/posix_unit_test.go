package cli_test

import (
	"bytes"
	"strings"
	"testing"
)

// TestStandIns compares the stand-ins of tools, which scripts have on Windows, with what the
// real ones print.
func TestStandIns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		args []string
		want string
	}{
		{`{"id":12,"x":"y"}` + "\n", []string{"sed", "-n", `s/.*"id":\([0-9]*\).*/\1/p`}, "12\n"},
		{"none\n", []string{"sed", "-n", `s/.*"id":\([0-9]*\).*/\1/p`}, ""},
		{"a\nb\nc\nd\n", []string{"sed", "2,3d"}, "a\nd\n"},
		{"a\nb\nc\n", []string{"sed", "-n", "1p;$p"}, "a\nc\n"},
		{"a b\n", []string{"sed", "-e", "s/a/[&]/", "-e", `s,b,x\,y,`}, "[a] x,y\n"},
		{"a.b.c\n", []string{"sed", "s/[.]/-/g; s/-c$/(c)/"}, "a-b(c)\n"},
		{"- id: a\n  entry: one\n- id: b\n  entry: two\n- id: c\n", []string{"sed", "-n", `/^- id: b$/,/^- id:/s/^  entry: //p`}, "two\n"},
		{"no newline", []string{"sed", "s/no/a/"}, "a newline"},
		{"x+y\n", []string{"sed", "-E", "s/(x)[+](y)/\\2\\1/"}, "yx\n"},
		{"", []string{"expr", `{"id":7}`, ":", `.*"id":\([0-9]*\)`}, "7\n"},
		{"a b c", []string{"tr", "-d", " "}, "abc"},
		{"\x00\x00", []string{"tr", `\0`, "x"}, "xx"},
		{"abc", []string{"tr", "a-z", "A-Z"}, "ABC"},
		{"a:b:c\nd\n", []string{"cut", "-d", ":", "-f2"}, "b\nd\n"},
		{"b\na\nb\n", []string{"sort", "-u"}, "a\nb\n"},
		{"", []string{"seq", "3"}, "1\n2\n3\n"},
		{"", []string{"basename", "a/b.sh", ".sh"}, "b\n"},
		{"", []string{"dirname", "a/b.sh"}, "a\n"},
		{"hi", []string{"base64"}, "aGk=\n"},
		{"a\nb\n", []string{"grep", "-c", "a"}, "1\n"},
		{"1\n2\n3\n", []string{"tail", "-n", "1"}, "3\n"},
		{"12345", []string{"head", "-c", "2"}, "12"},
	} {
		var out, errs bytes.Buffer
		tool := tool{name: c.args[0], args: c.args[1:], dir: t.TempDir(), in: strings.NewReader(c.in), out: &out, err: &errs}
		runTool(tool)
		if out.String() != c.want || errs.Len() > 0 {
			t.Errorf("%q: got %q, want %q %s", c.args, out.String(), c.want, errs.String())
		}
	}
}
