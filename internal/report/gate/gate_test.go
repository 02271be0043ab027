package gate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"mcptest/internal/report/gate"
	"mcptest/internal/report/html"
)

var findings = []gate.Finding{
	{Rule: "a", Level: "error", Subject: "tool x", Pointer: "/inputSchema", Message: "100%\nbroken\u202e", File: "dir/a b.yml", Line: 3},
	{Rule: "other", Level: "note", Message: "fine"},
	{Rule: "other", Level: "note", Message: "fine", File: "a:b.yml"},
	{Rule: "other", Level: "note", Message: "fine", File: "/tmp/b.yml", Line: 2},
}

func TestGitHub(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := (gate.Document{Title: "check:", Findings: findings}).Write(&b, "github"); err != nil {
		t.Fatal(err)
	}
	want := "::error file=dir/a b.yml,line=3,title=check%3A a::tool x: 100%25\\nbroken\\u202e\n::notice title=check%3A other::fine\n" +
		"::notice file=a%3Ab.yml,title=check%3A other::fine\n::notice file=/tmp/b.yml,line=2,title=check%3A other::fine\n"
	if b.String() != want {
		t.Errorf("got %q, expected %q", b.String(), want)
	}
}

// The page names the tool that wrote it.
func TestPage(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	d := gate.Document{Version: "1.2", Page: func() html.Sheet { return html.Sheet{Verdict: "Passes", Title: "a & b"} }}
	if err := d.Write(&b, "html"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Passes</span> a &amp; b</h1>", "<footer>mcptest 1.2</footer>"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page lacks %s:\n%s", want, b.String())
		}
	}
}

func TestSARIF(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := (gate.Document{Version: "1", Rules: []gate.Rule{{ID: "a", Text: "A", URL: "https://example.com"}}, Findings: findings}).Write(&b, "sarif"); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Runs []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleIndex int
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation *struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(b.String()), &doc); err != nil {
		t.Fatal(err)
	}
	run := doc.Runs[0]
	if len(run.Tool.Driver.Rules) != 2 || run.Results[1].RuleIndex != 1 {
		t.Errorf("a finding without a described rule has none: %s", b.String())
	}
	at := run.Results[0].Locations[0].PhysicalLocation
	for i, want := range []string{"dir/a%20b.yml", gate.NoFile, "./a:b.yml", "file:///tmp/b.yml"} {
		at := run.Results[i].Locations[0].PhysicalLocation
		if at == nil || at.ArtifactLocation.URI != want || at.Region.StartLine < 1 { // code scanning refuses the whole report
			t.Errorf("result %d: got %+v, expected %s", i, at, want)
		}
	}
	if at.ArtifactLocation.URI != "dir/a%20b.yml" || at.Region.StartLine != 3 || strings.Contains(b.String(), "\u202e") {
		t.Errorf("got %s", b.String())
	}
}
