package probe

import (
	"cmp"
	"fmt"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/probe/verdict"
)

// outcome is the result of one provocation.
type outcome struct {
	verdict  verdict.Verdict
	why      string
	evidence []verdict.Evidence
	once     bool   // it must not be repeated
	note     string // information that decides nothing
}

// held says that the server did what a rule requires.
func held() outcome { return outcome{verdict: verdict.Pass} }

// broken says how an exchange broke a rule.
func broken(x *mcp.Exchange, format string, args ...any) outcome {
	return brokenBy(shown(x), format, args...)
}

// brokenIf is broken if something is wrong, and held if not.
func brokenIf(wrong bool, x *mcp.Exchange, format string, args ...any) outcome {
	if wrong {
		return broken(x, format, args...)
	}
	return held()
}

// brokenBy is broken with the evidence that proves it.
func brokenBy(evidence verdict.Evidence, format string, args ...any) outcome {
	return outcome{verdict: verdict.Fail, why: fmt.Sprintf(format, args...), evidence: []verdict.Evidence{evidence}}
}

// expectStatus is broken if a raw HTTP request got another status.
func expectStatus(x *mcp.Exchange, want int, what string) outcome {
	return brokenIf(otherStatus(x, want), x, "%s got the status %d, expected %d", what, status(x), want)
}

// unverified says why a rule that applies could not be provoked.
func unverified(format string, args ...any) outcome {
	return outcome{verdict: verdict.NotVerified, why: fmt.Sprintf(format, args...)}
}

// inapplicable says why a rule does not concern the server.
func inapplicable(format string, args ...any) outcome {
	return outcome{verdict: verdict.NotApplicable, why: fmt.Sprintf(format, args...)}
}

// result returns the result in an exchange, absent if there is none.
func result(x *mcp.Exchange) jsonv.Value {
	if x == nil {
		return jsonv.Value{}
	}
	res, _ := jsonv.Parse(x.Result)
	return res
}

// rpcError returns the JSON-RPC error in an exchange, also in the body of an HTTP error.
func rpcError(x *mcp.Exchange) *protocol.RPCError {
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
	if e := message.Lookup("error"); err == nil && e.Kind() == jsonv.KindObject {
		return protocol.ParseRPCError(e.Append(nil))
	}
	return nil
}

// gotCode reports whether a request got the JSON-RPC error with a code.
func gotCode(x *mcp.Exchange, code int64) bool {
	e := rpcError(x)
	return e != nil && e.Code == code
}

// errorData is the data of the JSON-RPC error in an exchange, absent if there is none.
func errorData(x *mcp.Exchange) (data jsonv.Value) {
	if e := rpcError(x); e != nil {
		data, _ = jsonv.Parse(e.Data)
	}
	return data
}

// notFound reports whether a method is not implemented.
func notFound(x *mcp.Exchange) bool { return gotCode(x, protocol.CodeMethodNotFound) }

// refused reports whether a request got an error of any kind.
func refused(x *mcp.Exchange) bool { return rpcError(x) != nil || status(x) >= 400 }

// silent reports whether a request got no response of any kind.
func silent(x *mcp.Exchange) bool { return x.Response == nil && status(x) == 0 }

// otherStatus reports whether there was a response over HTTP with another status.
func otherStatus(x *mcp.Exchange, want int) bool { return status(x) != 0 && status(x) != want }

// served reports whether a raw HTTP request succeeded.
func served(x *mcp.Exchange) bool { return status(x) >= 200 && status(x) < 300 }

// fulfilled reports whether a call got a result that is no error of the tool.
func fulfilled(x *mcp.Exchange) bool { return x.Result != nil && !result(x).Lookup("isError").Bool() }

// another reports whether a result is no answer yet: it asks for input, or is a task.
func another(x *mcp.Exchange) bool {
	kind := result(x).Lookup("resultType").Text()
	return kind == "input_required" || kind == "task" || !result(x).Lookup("task").IsAbsent() && result(x).Lookup("content").IsAbsent()
}

// status is that of HTTP, 0 on stdio or without a response.
func status(x *mcp.Exchange) int {
	if x.HTTP == nil {
		return 0
	}
	return x.HTTP.Status
}

// answer describes the response to a request in a few words.
func answer(x *mcp.Exchange) string {
	e := rpcError(x)
	switch {
	case e != nil:
		return fmt.Sprintf("the error %d (%s)", e.Code, verdict.Excerpt(e.Message, 120))
	case x.Result != nil:
		return "a result"
	case status(x) > 0:
		return fmt.Sprintf("HTTP %d", status(x))
	case x.Cause != nil:
		return "no response: " + verdict.Excerpt(x.Cause.Error(), 160)
	}
	return "no response"
}

// shown returns an exchange as evidence.
func shown(x *mcp.Exchange) verdict.Evidence {
	e := verdict.Evidence{Sent: verdict.Excerpt(string(x.Request), 1000), Received: verdict.Excerpt(string(x.Response), 1000), Status: status(x)}
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
	e.Received = cmp.Or(e.Received, answer(x))
	return e
}
