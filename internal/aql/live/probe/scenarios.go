package probe

import (
	"fmt"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/live/catalog"
	"mcptest/internal/display"
)

// scenarios builds the questions of the four families (S 5.3): discovery, field
// selection, understanding an error, choosing an operation.
func (pr semanticProbe) scenarios() (out []evidence.SemanticCase) {
	var creates []string
	for _, op := range pr.run.Catalog.Operations {
		if op.Category == "CREATE" {
			creates = append(creates, op.Name)
		}
	}
	if len(creates) > 0 {
		s := evidence.SemanticCase{Question: "Which operations of this adapter create something? Name all of them.", Facts: "The CREATE operations are " + strings.Join(creates, ", ") + "."}
		s.Name = "Discovery: what can be created"
		s.RequiredPatterns, s.ExpectedOperations = creates[:1], []string{"introspect"}
		for _, name := range creates[:min(len(creates), 3)] {
			s.PhraseGroups = append(s.PhraseGroups, []string{name})
		}
		out = append(out, s)
	}
	for _, op := range pr.run.Catalog.Operations {
		if keys := catalog.ScalarKeys(catalog.Sample(pr.run.Base[op.Name].Data())); op.Category == "READ" && op.Param("fields") != nil && len(keys) > 1 {
			s := evidence.SemanticCase{
				Question: fmt.Sprintf("You need nothing but %s and %s of what %s answers. How do you ask for just these?", keys[0], keys[1], op.Name),
				Facts:    op.Name + " takes the parameter fields: " + op.Param("fields").Doc,
			}
			s.Name, s.RequiredPatterns, s.ExpectedParameters = "Field selection: "+op.Name, []string{"fields"}, []string{"fields"}
			s.PhraseGroups = [][]string{{keys[0]}, {keys[1]}}
			out = append(out, s)
			break
		}
	}
	for _, m := range pr.run.Evidence.MissingRequired {
		if text := evidence.Message(m.Response).Text(); m.Operation != "introspect" && evidence.Refused(m.Response) && text != "" {
			s := evidence.SemanticCase{
				Question: fmt.Sprintf("You called %s and got this error: %s\nWhat was wrong, and what do you do?", m.Operation, display.Truncate(text, 500)),
				Facts:    fmt.Sprintf("The required parameter %s of %s was missing; the call is to be repeated with it.", m.Parameter, m.Operation),
			}
			s.Name, s.RequiredPatterns = "Error understanding: "+m.Operation, []string{m.Parameter}
			s.PhraseGroups = [][]string{{m.Parameter}, {"missing", "required", "add", "include", "provide", "supply", "with", "without"}}
			out = append(out, s)
			break
		}
	}
	for _, op := range pr.run.Catalog.Operations {
		description := op.Detail.Lookup("description").Text()
		if op.Verb == "list" && op.Category == "READ" && description != "" && pr.run.Skipped[op.Name] == "" {
			s := evidence.SemanticCase{
				Question: "Do this with the adapter's tools, then say which operation you used: " + display.Truncate(strings.ReplaceAll(description, op.Name, "it"), 300),
				Facts:    "The operation for it is " + op.Name + ".",
			}
			s.Name, s.ExpectedOperations, s.RequiredPatterns = "Operation selection: "+op.Name, []string{op.Name}, []string{op.Name}
			s.PhraseGroups = [][]string{{op.Name}}
			out = append(out, s)
			break
		}
	}
	return out
}
