package probe

import (
	"fmt"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/guard"
)

// scenarios derives the questions from what the run learned about the adapter.
type scenarios struct{ run *guard.Run }

// build builds the questions of the four families (S 5.3): discovery, field
// selection, understanding an error, choosing an operation.
func (pr scenarios) build() (all []evidence.SemanticCase) {
	families := []func() *evidence.SemanticCase{
		pr.askForCreates, pr.askForFields, pr.askAboutError, pr.askForOperation,
	}
	for _, question := range families {
		if s := question(); s != nil {
			all = append(all, *s)
		}
	}
	return all
}

// askForCreates asks what can be created; nil if nothing can.
func (pr scenarios) askForCreates() *evidence.SemanticCase {
	var creates []string
	for _, op := range pr.run.Catalog.Operations {
		if op.Category == "CREATE" {
			creates = append(creates, op.Name)
		}
	}
	if len(creates) == 0 {
		return nil
	}
	s := &evidence.SemanticCase{
		Name:               "Discovery: what can be created",
		Question:           "Which operations of this adapter create something? Name all of them.",
		Facts:              "The CREATE operations are " + strings.Join(creates, ", ") + ".",
		RequiredPatterns:   creates[:1],
		ExpectedOperations: []string{"introspect"},
	}
	for _, name := range creates[:min(len(creates), 3)] {
		s.PhraseGroups = append(s.PhraseGroups, []string{name})
	}
	return s
}

// askForFields asks how to get a part of an answer; nil if no operation offers that.
func (pr scenarios) askForFields() *evidence.SemanticCase {
	for _, op := range pr.run.Catalog.Operations {
		keys := catalog.ListScalarKeys(catalog.Sample(pr.run.Base[op.Name].Data()))
		if op.Category != "READ" || op.FindParam("fields") == nil || len(keys) < 2 {
			continue
		}
		question := fmt.Sprintf("You need nothing but %s and %s of what %s answers. How do you ask for just these?",
			keys[0], keys[1], op.Name)
		return &evidence.SemanticCase{
			Name:               "Field selection: " + op.Name,
			Question:           question,
			Facts:              op.Name + " takes the parameter fields: " + op.FindParam("fields").Doc,
			RequiredPatterns:   []string{"fields"},
			PhraseGroups:       [][]string{{keys[0]}, {keys[1]}},
			ExpectedParameters: []string{"fields"},
		}
	}
	return nil
}

// askAboutError asks what an error of the adapter means; nil if it returned none.
func (pr scenarios) askAboutError() *evidence.SemanticCase {
	for _, m := range pr.run.Evidence.MissingRequired {
		text := evidence.Message(m.Response).Text()
		if m.Operation == "introspect" || !evidence.IsRefused(m.Response) || text == "" {
			continue
		}
		question := fmt.Sprintf("You called %s and got this error: %s\nWhat was wrong, and what do you do?",
			m.Operation, display.Truncate(text, 500))
		facts := fmt.Sprintf("The required parameter %s of %s was missing; the call is to be repeated with it.",
			m.Parameter, m.Operation)
		remedies := []string{"missing", "required", "add", "include", "provide", "supply", "with", "without"}
		return &evidence.SemanticCase{
			Name:             "Error understanding: " + m.Operation,
			Question:         question,
			Facts:            facts,
			RequiredPatterns: []string{m.Parameter},
			PhraseGroups:     [][]string{{m.Parameter}, remedies},
		}
	}
	return nil
}

// askForOperation asks for something that one operation does; nil if there is none that
// may be called.
func (pr scenarios) askForOperation() *evidence.SemanticCase {
	for _, op := range pr.run.Catalog.Operations {
		description := op.Detail.Lookup("description").Text()
		lists := op.Verb == "list" && op.Category == "READ"
		if !lists || description == "" || pr.run.Gate.Skipped[op.Name] != "" {
			continue
		}
		wanted := display.Truncate(strings.ReplaceAll(description, op.Name, "it"), 300)
		return &evidence.SemanticCase{
			Name:               "Operation selection: " + op.Name,
			Question:           "Do this with the adapter's tools, then say which operation you used: " + wanted,
			Facts:              "The operation for it is " + op.Name + ".",
			RequiredPatterns:   []string{op.Name},
			PhraseGroups:       [][]string{{op.Name}},
			ExpectedOperations: []string{op.Name},
		}
	}
	return nil
}
