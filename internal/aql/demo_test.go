package aql_test

import (
	"fmt"
	"strings"
	"testing"

	"mcptest/internal/aql"
	"mcptest/internal/aql/demo"
)

// The page of defects is made from the table that the matrix test proves.
func TestPageOfDefectsIsCurrent(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Defects of the demo adapter\n\n")
	b.WriteString("<!-- Generated from the table in internal/aql/demo. To change it, change the table and run: go test ./internal/aql -update -->\n\n")
	b.WriteString("`mcpaql-conformance demo-adapter` serves a small library that conforms at level 2. Each defect below is switched\n")
	b.WriteString("on with `--defect NAME` and changes the rows named beside it in the report of\n")
	b.WriteString("`mcpaql-conformance live --mode write --level 2`, and no others: a test holds the table to that.\n\n")
	b.WriteString("```sh\nmcpaql-conformance live --stdio \"mcpaql-conformance demo-adapter --defect create-drops\" --mode write --level 2\n```\n\n")
	names := map[string]string{}
	for _, test := range aql.Tests() {
		names[test.ID] = test.Name
	}
	fmt.Fprintf(&b, "%d defects.\n\n| defect | what is wrong | rows that change |\n|---|---|---|\n", len(demo.Defects()))
	seen := map[string]bool{}
	for _, d := range demo.Defects() {
		var rows []string
		for _, id := range d.Rows {
			if names[id] == "" {
				t.Errorf("%s names the test %q, which does not exist", d.Name, id)
			}
			rows = append(rows, names[id])
		}
		if seen[d.Name] || len(rows) == 0 {
			t.Errorf("%s is there twice or changes nothing", d.Name)
		}
		seen[d.Name] = true
		doc := d.Doc
		if d.Feature != "" {
			doc += " (with `" + d.Feature + "`)"
		}
		if d.Feature == "executions" {
			doc = d.Doc + " (with `executions`, in `--mode full`)"
		}
		if d.Feature == "stress" {
			doc = d.Doc + " (in a run with `--stress`)"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", d.Name, doc, strings.Join(rows, "; "))
	}
	b.WriteString("\n## Features\n\nThe library can have more, with `--with NAME`, and conforms with it all the same. The defects of a feature bring it\nalong.\n\n| feature | what it is |\n|---|---|\n")
	for _, f := range demo.Features() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", f.Name, f.Doc)
	}
	golden(t, "../../docs/reference/mcpaql-defects.md", []byte(b.String()))
}
