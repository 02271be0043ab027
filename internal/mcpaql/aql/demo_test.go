package aql_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mcptest/internal/mcpaql/demo"
	"mcptest/internal/mcpaql/rule"
)

// overHTTP says that a defect needs a process that serves several sessions.
func overHTTP(d demo.Defect) bool {
	return d.Feature == "confirm" && slices.Contains(d.Rows, "session")
}

// The page of defects is made from the table that the matrix test proves.
func TestPageOfDefectsIsCurrent(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# Defects of the demo adapter\n\n")
	b.WriteString("<!-- Generated from the table in internal/mcpaql/demo. To change it, change the table and run: go test ./internal/mcpaql/aql -update -->\n\n")
	b.WriteString("`mcpaql-conformance demo-adapter` serves a small library that conforms at level 2. Each defect below is switched\n")
	b.WriteString("on with `--defect NAME`. It changes the rows named with it, and no others, in the report of the first command, or of\n")
	b.WriteString("the one that its remark names; a test runs every defect. The report to compare with is that of the same command\n")
	b.WriteString("without the defect, and `--with FEATURE` where the defect is of a feature.\n\n")
	b.WriteString("```sh\nmcpaql-conformance live --stdio \"mcpaql-conformance demo-adapter --defect create-drops\" --mode write --level 2\n")
	b.WriteString("mcpaql-conformance live --stdio \"mcpaql-conformance demo-adapter --defect limits-open\" --mode write --level 2 --stress\n")
	b.WriteString("mcpaql-conformance live --stdio \"mcpaql-conformance demo-adapter --defect step-bare\" --mode full --level 2\n```\n\n")
	b.WriteString("Confirmations are given in a run with `--confirm`:\n\n")
	b.WriteString("```sh\nmcpaql-conformance live --stdio \"mcpaql-conformance demo-adapter --defect confirm-reused\" --mode write --level 2 --confirm\n```\n\n")
	b.WriteString("A token that the next session takes shows only where one process serves several sessions, which is started by itself,\nand anew for each run:\n\n")
	b.WriteString("```sh\nmcpaql-conformance demo-adapter --defect confirm-outlives --http 127.0.0.1:8080\n")
	b.WriteString("mcpaql-conformance live --url http://127.0.0.1:8080/mcp --mode write --level 2 --confirm   # in another terminal\n```\n\n")
	names := map[string]string{}
	for _, test := range rule.Tests() {
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
		switch d.Feature {
		case "":
		case "executions":
			doc += " (with `executions`, in `--mode full`)"
		case "stress":
			doc += " (in a run with `--stress`)"
		case "confirm":
			doc += " (with `confirm`, in a run with `--confirm`"
			if overHTTP(d) {
				doc += ", over HTTP"
			}
			doc += ")"
		default:
			doc += " (with `" + d.Feature + "`)"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", d.Name, doc, strings.Join(rows, "; "))
	}
	b.WriteString("\n## Features\n\nThe library can have more, with `--with NAME`, and conforms with it all the same. The defects of a feature bring it\nalong.\n\n| feature | what it is |\n|---|---|\n")
	for _, f := range demo.Features() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", f.Name, f.Doc)
	}
	golden(t, "../../../docs/reference/mcpaql-defects.md", []byte(b.String()))
}
