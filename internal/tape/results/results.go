package results

import (
	"math"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/toolresult"
	"mcptest/internal/spec/plan"
	"mcptest/internal/tape/cassette"
)

// A Report says what was found in a file.
type Report struct {
	Found      []toolresult.Seen // of a cassette, At is the line of the response
	Servers    []string          // whose results were seen
	Judged     int
	Noted      int // findings of a run that were repeated
	Shortened  int // results of which the file holds a part
	Unlisted   int // large results of tools whose definition is not known
	Unanswered int // calls without a response
	Mocked     int // results that the mock of a suite gave
	// Contentless counts responses that are no result yet, such as tasks, or none at all.
	Contentless int

	worst toolresult.Worst
}

// Held returns how many results and findings the file holds.
func (r *Report) Held() int {
	return r.Judged + r.Noted + r.Shortened + r.Unanswered + r.Mocked + r.Contentless
}

// judge applies the rules to the result in one response.
func (r *Report) judge(at toolresult.Seen, definition, response jsonv.Value) {
	result := response.Lookup("result")
	switch {
	case result.IsAbsent() && !response.Lookup("error").IsAbsent():
		return // nothing of it is handed to a model
	case result.Lookup("content").IsAbsent() && result.Lookup("structuredContent").IsAbsent():
		r.Contentless++
		return
	}
	r.Judged++
	r.addServer(at.Server)
	if !definition.IsAbsent() {
		r.worst.Add(at, toolresult.Examine(at.Tool, definition, result))
		return
	}
	notes, isUnsure := toolresult.ExamineUnlisted(at.Tool, result)
	if isUnsure {
		r.Unlisted++
	}
	r.worst.Add(at, notes)
}

// addServer remembers a server.
func (r *Report) addServer(server string) {
	for _, known := range r.Servers {
		if known == server {
			return
		}
	}
	r.Servers = append(r.Servers, server)
}

// OfCassette judges the results in a cassette. An error means that the file changed or can't
// be read.
func OfCassette(c *cassette.Cassette) (*Report, error) {
	calls, err := c.Calls()
	if err != nil {
		return nil, err
	}
	r := &Report{}
	isMock := plan.IsMock(c.Header.Server.Command)
	listed := readDefinitions(c, calls)
	for _, call := range calls {
		switch {
		case call.Method != "tools/call" || call.ID == "":
		case call.Response == nil:
			r.Unanswered++
		case isMock:
			r.Mocked++
		case call.Response.Omitted > 0:
			r.Shortened++
		default:
			at := toolresult.Seen{Server: c.Header.Server.Name, Tool: call.Name, At: call.Response.Line}
			r.judge(at, listed.find(call.Session, call.Name), answerIn(c.Value(call.Response), call.ID))
		}
	}
	r.Found = r.worst.All()
	return r, c.Err()
}

// answerIn returns the response with an id: a message, or an element of a batch.
func answerIn(message jsonv.Value, id string) jsonv.Value {
	if message.Kind() != jsonv.KindArray {
		return message
	}
	for _, one := range message.Elems() {
		if one.Lookup("id").String() == id {
			return one
		}
	}
	return jsonv.Value{}
}

// definitions are tools by name, in each session and, with session 0, in all.
type definitions map[definitionKey]jsonv.Value

type definitionKey struct {
	session int
	tool    string
}

// find returns the definition of a tool as a session saw it, or another one.
func (d definitions) find(session int, tool string) jsonv.Value {
	if own, ok := d[definitionKey{session, tool}]; ok {
		return own
	}
	return d[definitionKey{0, tool}]
}

func (d definitions) add(session int, list jsonv.Value) {
	for _, tool := range list.Elems() {
		name := tool.Lookup("name").Text()
		d[definitionKey{session, name}] = tool
		d[definitionKey{0, name}] = tool
	}
}

// readDefinitions returns the tools in the lists of a cassette.
func readDefinitions(c *cassette.Cassette, calls []*cassette.Call) definitions {
	out := definitions{}
	for _, call := range calls {
		if call.Method == "tools/list" && call.Response != nil {
			out.add(call.Session, answerIn(c.Value(call.Response), call.ID).Lookup("result", "tools"))
		}
	}
	return out
}

// OfRecord repeats the findings of a run, and judges the results that its record holds whole.
func OfRecord(record jsonv.Value) *Report {
	r := &Report{}
	for _, f := range record.Lookup("findings").Elems() {
		r.repeat(f)
	}
	mocks := findMocks(record)
	for _, test := range record.Lookup("tests").Elems() {
		holders := append([]jsonv.Value{test}, test.Lookup("attempts").List()...)
		for _, holder := range holders {
			for _, x := range holder.Lookup("exchanges").Elems() {
				r.judgeExchange(x, test, mocks)
			}
		}
	}
	r.Found = r.worst.All()
	return r
}

// repeat takes over a finding of the run, which saw the whole result.
func (r *Report) repeat(f jsonv.Value) {
	rule, known := toolresult.RuleOf(f.Lookup("rule").Text())
	if f.Lookup("kind").Text() != "result" || !known {
		return
	}
	level := toolresult.Warning
	if f.Lookup("level").Text() == toolresult.Advice {
		level = toolresult.Advice
	}
	r.Noted++
	at := toolresult.Seen{
		Server: f.Lookup("server").Text(),
		Tool:   f.Lookup("tool").Text(),
		Test:   f.Lookup("test").Text(),
	}
	r.addServer(at.Server)
	note := toolresult.Note{Rule: rule.ID, Level: level, Message: f.Lookup("message").Text(), Size: math.MaxInt}
	r.worst.Add(at, []toolresult.Note{note})
}

// judgeExchange judges one exchange of a test.
func (r *Report) judgeExchange(x, test jsonv.Value, mocks map[string]bool) {
	if x.Lookup("method").Text() != "tools/call" {
		return
	}
	server := test.Lookup("server").Text()
	request, badRequest := jsonv.Parse([]byte(x.Lookup("request").Text()))
	text := x.Lookup("response").Text()
	response, badResponse := jsonv.Parse([]byte(text))
	switch {
	case mocks[test.Lookup("file").Text()+"\x00"+server]:
		r.Mocked++
	case text == "":
		r.Unanswered++
	case x.Lookup("truncated").Bool() || badRequest != nil || badResponse != nil:
		r.Shortened++
	default:
		id := request.Lookup("id").String()
		at := toolresult.Seen{
			Server: server,
			Tool:   request.Lookup("params", "name").Text(),
			Test:   test.Lookup("name").Text(),
			At:     r.Judged,
		}
		r.judge(at, jsonv.Value{}, answerIn(response, id))
	}
}

// findMocks returns the servers of a run, by file and name, that were mocks of a suite.
func findMocks(record jsonv.Value) map[string]bool {
	out := map[string]bool{}
	for _, s := range record.Lookup("servers").Elems() {
		if plan.IsMock(strings.Fields(s.Lookup("target").Text())) {
			out[s.Lookup("file").Text()+"\x00"+s.Lookup("name").Text()] = true
		}
	}
	return out
}
