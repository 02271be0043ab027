package html_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"mcptest/internal/report/html"
)

// The page of a measurement shows all texts that it was given, makes none of them active,
// and its policy allows the style that it has and nothing else.
func TestSheet(t *testing.T) {
	const hostile = "<script>alert(1)</script>\x1b[2J"
	var b strings.Builder
	err := html.Sheet{
		Verdict: "Leaks", Class: "bad", Title: "server " + hostile, Command: "node " + hostile, Tool: "mcptest 1", Notes: []string{"one note", hostile},
		Tiles: []html.Tile{{Number: "8,000", Text: "sessions"}},
		Plots: []html.Plot{{
			Title: "Memory", Y: func(v float64) string { return fmt.Sprint(v, " MiB") }, Bands: []html.Band{{Name: "A " + hostile, From: 1, To: 2}},
			Lines: []html.Line{{Name: "measured", Class: "trace", Points: [][2]float64{{0, 10}, {4, 40}}}, {Name: "none", Class: "need"}},
		}},
		Tables: []html.Table{{Title: "Measures", Head: []string{"what", "slope"}, Rows: [][]string{{"memory", "10.9 KiB"}, {hostile, "1"}}}, {Title: "Findings", Head: []string{"rule", "finding"}, Rows: [][]string{{"a", "all " + hostile}}, Sentences: true}},
	}.Write(&b)
	if err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"Leaks", "node &lt;script&gt;", "one note", "<b>8,000</b> <span>sessions</span>", "<h3>Memory</h3>", "measured from 10 MiB to 40 MiB", `class="trace" d="M84.0 180.0L`, "40 MiB</text>", `<td class="num">10.9 KiB</td>`, `<td class="says">all &lt;script&gt;`, "mcptest 1"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "\x1b") {
		t.Error("text of others reached the page unescaped")
	}
	_, rest, _ := strings.Cut(page, "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	want := `content="default-src 'none'; style-src 'sha256-` + base64.StdEncoding.EncodeToString(sum[:]) + `'; base-uri 'none'; form-action 'none'"`
	if !strings.Contains(page, want) {
		t.Errorf("the policy is not %s", want)
	}
	if strings.Contains(page, "http://") || strings.Contains(page, "https://") {
		t.Error("the page names an address")
	}
}
