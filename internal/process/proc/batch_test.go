package proc

import (
	"strings"
	"testing"
)

func TestBatchLine(t *testing.T) {
	t.Parallel()
	const before, after = `/e:ON /v:OFF /d /c ""C:\my tools\npx.cmd" `, `"`
	for _, c := range []struct{ arg, want string }{
		{"plain", "plain"},
		{"@scope/server", "@scope/server"},
		{"--port=80", `"--port=80"`},
		{"", `""`},
		{"two words", `"two words"`},
		{"pkg@^1.2.0", `"pkg@^1.2.0"`},
		{"http://h/?a=1&calc.exe", `"http://h/?a=1&calc.exe"`},
		{"a|b>c<d", `"a|b>c<d"`},
		{`say "hi" & calc`, `"say ""hi"" & calc"`},
		{`" & calc & "`, `""" & calc & """`},
		{`\" & calc`, `"\\"" & calc"`},
		{"%PATH%", `"%%cd:~,%PATH%%cd:~,%"`},
		{"100%", `"100%%cd:~,%"`},
		{"!PATH!", `"!PATH!"`},
		{`C:\folder\`, `"C:\folder\\"`},
		{`C:\folder\file`, `C:\folder\file`},
		{`C:\my folder\`, `"C:\my folder\\"`},
		{"ä", "ä"},
		{"a\u0085b", "\"a\u0085b\""},
		{"a\tb", "\"a\tb\""},
		{"a;b,c", `"a;b,c"`},
	} {
		got, err := batchLine(`C:\my tools\npx.cmd`, []string{c.arg})
		if err != nil || got != before+c.want+after {
			t.Errorf("batchLine(%q) = %s, %v; want %s", c.arg, got, err, before+c.want+after)
		}
	}
}

func TestBatchLineRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ arg, want string }{
		{"a\nb", `argument 2 ("a\nb") contains a line break`},
		{"a\r", `argument 2 ("a\r") contains a line break`},
		{strings.Repeat("x", 9000), "accepts 8191"},
	} {
		if line, err := batchLine(`C:\x.bat`, []string{"first", c.arg}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("batchLine(%.20q) = %q, %v; want an error with %s", c.arg, line, err, c.want)
		}
	}
}

// The script's own path is a word of the line, too.
func TestBatchLineEscapesTheScript(t *testing.T) {
	t.Parallel()
	got, _ := batchLine(`C:\50%PATH%&x\run.cmd`, nil)
	if want := `/e:ON /v:OFF /d /c ""C:\50%%cd:~,%PATH%%cd:~,%&x\run.cmd""`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestIsBatch(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"x.cmd": true, "X.CMD": true, "x.bat": true, "x.bat. .": true, "x.cmd ": true,
		"x.exe": false, "cmd": false, "x.cmd.exe": false, "x.ps1": false, "": false,
	} {
		if got := isBatch(path); got != want {
			t.Errorf("isBatch(%q) = %v", path, got)
		}
	}
}
