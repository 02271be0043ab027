package exam

import (
	"cmp"
	"fmt"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/probe/verdict"
)

// Outcome is the result of one provocation.
type Outcome struct {
	Verdict  verdict.Verdict
	Why      string
	Evidence []verdict.Evidence
	Once     bool   // it must not be repeated
	Note     string // information that decides nothing

	of *mcp.Exchange // that shows a violation
}

// Held says that the server did what a rule requires.
func Held() Outcome { return Outcome{Verdict: verdict.Pass} }

// Broken says how an exchange broke a rule.
func Broken(x *mcp.Exchange, format string, args ...any) Outcome {
	o := BrokenBy(Shown(x), format, args...)
	o.of = x
	return o
}

// BrokenIf is broken if something is wrong, and held if not.
func BrokenIf(wrong bool, x *mcp.Exchange, format string, args ...any) Outcome {
	if wrong {
		return Broken(x, format, args...)
	}
	return Held()
}

// BrokenBy is broken with the evidence that proves it.
func BrokenBy(evidence verdict.Evidence, format string, args ...any) Outcome {
	return Outcome{Verdict: verdict.Fail, Why: fmt.Sprintf(format, args...), Evidence: []verdict.Evidence{evidence}}
}

// ExpectStatus is broken if a raw HTTP request got another status.
func ExpectStatus(x *mcp.Exchange, want int, what string) Outcome {
	return BrokenIf(OtherStatus(x, want), x, "%s got the status %d, expected %d", what, Status(x), want)
}

// Unverified says why a rule that applies could not be provoked.
func Unverified(format string, args ...any) Outcome {
	return Outcome{Verdict: verdict.NotVerified, Why: fmt.Sprintf(format, args...)}
}

// Inapplicable says why a rule does not concern the server.
func Inapplicable(format string, args ...any) Outcome {
	return Outcome{Verdict: verdict.NotApplicable, Why: fmt.Sprintf(format, args...)}
}

// Result returns the result in an exchange, absent if there is none.
func Result(x *mcp.Exchange) jsonv.Value {
	if x == nil {
		return jsonv.Value{}
	}
	res, _ := jsonv.Parse(x.Result)
	return res
}

// RPCError returns the JSON-RPC error in an exchange, also in the body of an HTTP error.
func RPCError(x *mcp.Exchange) *protocol.RPCError {
	if x == nil {
		return nil
	}
	if x.Error != nil {
		return x.RPCError()
	}
	body := x.Response
	if body == nil && x.HTTP != nil {
		body = x.HTTP.Body
	}
	message, err := jsonv.Parse(body)
	e := message.Lookup("error")
	if err == nil && e.Kind() == jsonv.KindObject {
		return protocol.ParseRPCError(e.Append(nil))
	}
	return nil
}

// GotCode reports whether a request got the JSON-RPC error with a code.
func GotCode(x *mcp.Exchange, code int64) bool {
	e := RPCError(x)
	return e != nil && e.Code == code
}

// ErrorData is the data of the JSON-RPC error in an exchange, absent if there is none.
func ErrorData(x *mcp.Exchange) (data jsonv.Value) {
	if e := RPCError(x); e != nil {
		data, _ = jsonv.Parse(e.Data)
	}
	return data
}

// NotFound reports whether a method is not implemented.
func NotFound(x *mcp.Exchange) bool { return GotCode(x, protocol.CodeMethodNotFound) }

// Refused reports whether a request got an error of any kind.
func Refused(x *mcp.Exchange) bool { return RPCError(x) != nil || Status(x) >= 400 }

// Silent reports whether a request got no response of any kind.
func Silent(x *mcp.Exchange) bool { return x.Response == nil && Status(x) == 0 }

// OtherStatus reports whether there was a response over HTTP with another status.
func OtherStatus(x *mcp.Exchange, want int) bool { return Status(x) != 0 && Status(x) != want }

// Served reports whether a raw HTTP request succeeded.
func Served(x *mcp.Exchange) bool { return Status(x) >= 200 && Status(x) < 300 }

// Fulfilled reports whether a call got a result that is no error of the tool.
func Fulfilled(x *mcp.Exchange) bool { return x.Result != nil && !Result(x).Lookup("isError").Bool() }

// Another reports whether a result is no answer yet: it asks for input, or is a task.
func Another(x *mcp.Exchange) bool {
	kind := Result(x).Lookup("resultType").Text()
	return kind == "input_required" || kind == "task" || !Result(x).Lookup("task").IsAbsent() && Result(x).Lookup("content").IsAbsent()
}

// Status is that of HTTP, 0 on stdio or without a response.
func Status(x *mcp.Exchange) int {
	if x.HTTP == nil {
		return 0
	}
	return x.HTTP.Status
}

// rateLimit is how an error says that there were too many requests.
var rateLimit = lazy.Regexp(`(?i)rate[ _-]?limit|too many (requests|calls)|quota|throttl`)

// limitsRate reports whether a request got an error of JSON-RPC that stands for HTTP 429: no
// code is defined for it.
func limitsRate(x *mcp.Exchange) bool {
	e := RPCError(x)
	return e != nil && rateLimit().MatchString(e.Message)
}

// Answer describes the response to a request in a few words.
func Answer(x *mcp.Exchange) string {
	e := RPCError(x)
	switch {
	case e != nil:
		return fmt.Sprintf("the error %d (%s)", e.Code, verdict.Excerpt(e.Message, 120))
	case x.Result != nil:
		return "a result"
	case Status(x) > 0:
		return fmt.Sprintf("HTTP %d", Status(x))
	case x.Cause != nil:
		return "no response: " + verdict.Excerpt(x.Cause.Error(), 160)
	}
	return "no response"
}

// Shown returns an exchange as evidence.
func Shown(x *mcp.Exchange) verdict.Evidence {
	e := verdict.Evidence{
		Sent:     verdict.Excerpt(string(x.Request), 1000),
		Received: verdict.Excerpt(string(x.Response), 1000),
		Status:   Status(x),
	}
	if x.HTTP != nil {
		if strings.Contains(x.Method, " ") { // of a raw request
			e.Sent = strings.TrimSpace(x.Method + "\n\n" + e.Sent)
		}
		body := e.Received
		if x.Response == nil {
			body = verdict.Excerpt(string(x.HTTP.Body), 1000)
		}
		e.Received = strings.TrimSpace(fmt.Sprintf("HTTP %d %s\n%s", x.HTTP.Status, x.HTTP.ContentType, body))
	}
	e.Received = cmp.Or(e.Received, Answer(x))
	return e
}
