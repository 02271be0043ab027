//go:build linux

package faults_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// textRows are texts of a server with special effects. Each is sent in a failing result, an
// error, standard error and a log message, and from there reaches every report.
func textRows() []row {
	var rows []row
	for _, h := range []struct{ id, what, text string }{
		{"escape", "terminal escapes", "\x1b[2J\x1b[31mred\x1b]0;title\x07"},
		{"c1", "C1 control characters", "a\u009b31mb\u0085c"},
		{"bidi", "characters that change the direction of text", "user\u202e gnp.exe\u2066"},
		{"zero-width", "characters without a width", "ad\u200bmin\ufeff"},
		{"carriage-return", "carriage returns and backspaces", "fail\r\b\b\bpass"},
		{"github", "commands to a CI engine", "::error file=a::oops\n::set-output name=x::y\n##[error]boo"},
		{"html", "markup", "<script>alert(1)</script><img src=x onerror=alert(1)>"},
		{"cdata", "the end of a CDATA section", "]]><evil/>"},
		{"markdown", "Markdown", "| a | b |\n```\n[x](http://evil.invalid) ![y](http://evil.invalid/z.png) @team\n# head"},
		{"xml-forbidden", "characters that XML does not have", "a\x00b\x0bc\ufffe"},
		{"placeholder", "placeholders", "${HOME} $(id) `id` {{.}} %s%n"},
		{"percent", "URL escapes", "%0A::error::x%0D"},
		{"long-line", "a line of 100,000 letters", strings.Repeat("w", 100000)},
		{"many-lines", "10,000 lines", strings.Repeat("l\n", 10000)},
	} {
		rows = append(rows, row{
			id: "text/" + h.id, what: h.what + " in everything a server says", stdio: talk{act: func(s *stdio) {
				q, _ := json.Marshal(h.text)
				os.Stderr.WriteString(h.text + "\n")
				s.write(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":` + string(q) + "}}\n")
				s.write(`{"jsonrpc":"2.0","id":` + s.id + `,"error":{"code":-32000,"message":` + string(q) + `,"data":` + string(q) + "}}\n")
			}}, exit: 1, tests: "fail pass", args: []string{
				"run", "s.yml", "--reporter", "junit=../r.xml", "--reporter", "html=../r.html", "--reporter", "md=../r.md", "--reporter", "tap=../r.tap",
				"--reporter", "github=../r.github", "--reporter", "sarif=../r.sarif", "--reporter", "agent=../r.agent", "--reporter", "minimal=../r.minimal", "--reporter", "gitlab=../r.gitlab", "--reporter", "matrix=../r.matrix",
			},
			says: []string{"-32000"}, after: reportsFit,
		})
	}
	rows = append(rows, row{
		id: "text/secret", what: "the server says a secret of the suite", stdio: talk{act: func(s *stdio) {
			secret := os.Getenv("API_TOKEN")
			os.Stderr.WriteString("token " + secret + "\n")
			s.write(refusal(s.id, -32000, "bad token "+secret))
		}}, server: "env: {API_TOKEN: canary-4711-canary}", exit: 1, tests: "fail pass", args: []string{"run", "s.yml", "--reporter", "junit=../r.xml", "--reporter", "html=../r.html", "--reporter", "md=../r.md"},
		says: []string{"bad token"}, never: []string{"canary-4711"}, after: func(t *trial) {
			for _, name := range t.list(".") {
				if b, err := os.ReadFile(filepath.Join(t.dir, name)); err == nil && name != "work/s.yml" && strings.Contains(string(b), "canary-4711") {
					t.tb.Errorf("%s holds the secret", name)
				}
			}
		},
	})
	return rows
}

// reportsFit checks the reports that a row left in its folder.
func reportsFit(t *trial) {
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(t.dir, name))
		if err != nil {
			t.tb.Error(err)
		}
		return string(b)
	}
	d := xml.NewDecoder(strings.NewReader(read("r.xml")))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.tb.Errorf("JUnit: %v", err)
			break
		}
	}
	for _, name := range []string{"r.sarif", "r.gitlab"} {
		if !json.Valid([]byte(read(name))) {
			t.tb.Errorf("%s is not JSON", name)
		}
	}
	for _, name := range []string{"r.md", "r.tap", "r.github", "r.agent", "r.minimal", "r.matrix", "r.html", "r.xml"} {
		if bad := unfit(read(name)); bad != "" {
			t.tb.Errorf("%s holds %s", name, bad)
		}
	}
	html := read("r.html")
	for _, bad := range []string{"<script>alert", "<img src=x", "<evil/>"} {
		if strings.Contains(html, bad) {
			t.tb.Errorf("a report holds %s as markup", bad)
		}
	}
	for _, line := range strings.Split(read("r.github"), "\n") {
		if strings.HasPrefix(line, "::error file=a") || strings.HasPrefix(line, "::set-output") || strings.HasPrefix(line, "##[") {
			t.tb.Errorf("a CI engine would obey %q", line)
		}
	}
}
