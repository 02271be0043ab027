package explain

import (
	"encoding/json"
	"strings"

	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// ChooseHeadline returns the message of a case without the text of its first failed
// assertion, if that is explained below.
func ChooseHeadline(c *result.Case, failed []result.Assertion) string {
	if len(failed) == 0 || failed[0].Message == "" || Alone(c, failed) {
		return c.Message
	}
	head, tail, found := strings.Cut(c.Message, failed[0].Message)
	if !found {
		return c.Message
	}
	if name := failed[0].Name; name != "" {
		head = strings.TrimSuffix(head, name+": ")
	}
	return strings.TrimSuffix(strings.TrimSuffix(head, ", the first: "), ": ") + tail
}

// FindUnseenResponse returns the last response of a failed case, or "" if the explanation
// of the failure contains it. Verbose output has the whole exchange.
func FindUnseenResponse(p *render.Printer, c *result.Case, failed []result.Assertion) (text, kind string) {
	text, kind = findLastResponse(c)
	quoted := text
	problem := (struct{ Message, Data json.RawMessage }{})
	if kind == errorKind && json.Unmarshal([]byte(text), &problem) == nil && problem.Data == nil {
		quoted = string(problem.Message)
	}
	if p.Verbose || c.Status != result.Fail || strings.Contains(joinExplainedParts(c.Message, failed), quoted) {
		return "", ""
	}
	return text, kind
}

// joinExplainedParts returns the parts of a response that the failed assertions show.
func joinExplainedParts(message string, failed []result.Assertion) string {
	var b strings.Builder
	b.WriteString(message)
	for i := range failed {
		a := &failed[i]
		b.WriteString("\n" + joinExplainedParts(a.Message, ListFailing(a.Assertions)) + "\n" + a.Actual + "\n" + strings.Join(a.Notes, "\n"))
	}
	return b.String()
}

// mostParsed limits the size of a response that is parsed.
const mostParsed = 1 << 20

// errorKind is the kind of a response that is a JSON-RPC error.
const errorKind = "error  "

// findLastResponse returns the last response of a case: the text of a tool's result, or
// the result or error as JSON. kind describes it if the text does not.
func findLastResponse(c *result.Case) (text, kind string) {
	raw := ""
	for i := range c.Exchanges {
		if c.Exchanges[i].Response != "" {
			raw = c.Exchanges[i].Response
		}
	}
	var frame struct{ Result, Error json.RawMessage }
	if len(raw) > mostParsed || json.Unmarshal([]byte(raw), &frame) != nil {
		return raw, ""
	}
	if frame.Error != nil {
		return string(frame.Error), errorKind
	}
	var content struct {
		IsError    bool
		Content    []struct{ Type, Text string }
		Structured json.RawMessage `json:"structuredContent"`
	}
	if json.Unmarshal(frame.Result, &content) != nil || len(content.Content) == 0 {
		return string(frame.Result), ""
	}
	if content.Structured != nil {
		if len(content.Content) == 1 && json.Valid([]byte(content.Content[0].Text)) { // equal to the text
			return string(content.Structured), "structured  "
		}
		return string(frame.Result), ""
	}
	var texts []string
	for _, block := range content.Content {
		if block.Type != "text" {
			return string(frame.Result), ""
		}
		texts = append(texts, block.Text)
	}
	if content.IsError {
		kind = "isError: true  "
	}
	return strings.Join(texts, "\n"), kind
}
