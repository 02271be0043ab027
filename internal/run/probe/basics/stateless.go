package basics

import (
	"context"
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/probe/argument"
	"mcptest/internal/run/probe/exam"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/spec/suite"
)

// Stateless examines what only a stateless revision has.
func Stateless(ctx context.Context, v *exam.Visit) {
	if !v.Modern() {
		return
	}
	v.Enter(exam.BrokenIf(v.Unsigned != nil && !v.Signed, v.Unsigned, "no result has serverInfo in _meta"), "result-server-info")
	for _, l := range v.Listed {
		v.Check(ctx, "cache-scope-pages", l.Method, func(context.Context) exam.Outcome {
			for _, page := range l.Pages[1:] {
				a := exam.Result(l.Pages[0]).Lookup("cacheScope").Text()
				b := exam.Result(page).Lookup("cacheScope").Text()
				if page.Result != nil && a != b {
					return exam.Broken(page, "the first page of %s has the cacheScope %q, another one %q", l.Method, a, b)
				}
			}
			return exam.Held()
		})
	}
	checkMetadata(ctx, v)
	v.Check(ctx, "stateless-first-request", "", func(ctx context.Context) exam.Outcome {
		message := v.Frame(1, v.FirstList(), jsonv.Value{})
		var x *mcp.Exchange
		if v.Stdio() {
			x = v.Alone(ctx, func(ctx context.Context, c *conn.Conn) *mcp.Exchange {
				return c.SendRaw(ctx, message.Append(nil))
			})
		} else {
			x = v.Tell(ctx, message, nil)
		}
		if len(x.Request) == 0 || exam.Silent(x) {
			return exam.Unverified("%s as the first request on a connection got %s", v.FirstList(), exam.Answer(x))
		}
		return exam.BrokenIf(exam.RPCError(x) != nil && !exam.NotFound(x), x, "%s as the first request on a connection got %s", v.FirstList(), exam.Answer(x))
	})
	if v.Stdio() {
		return
	}
	checkHeaders(ctx, v)
	for _, tool := range v.Tools {
		names, fault := protocol.ParamHeaders(tool.Lookup("inputSchema"))
		if fault == "" && len(names) > 0 && len(names[0].Path) == 1 && allow.ReadOnly(tool) {
			checkParamHeader(ctx, v, tool, names)
		}
	}
}

// checkMetadata sends requests whose _meta lacks something, or has another version.
func checkMetadata(ctx context.Context, v *exam.Visit) {
	send := func(ctx context.Context, k kind, meta jsonv.Value, headers http.Header) *mcp.Exchange {
		message := k.makeFrame(v, 7001)
		message = message.With("params", message.Lookup("params").With("_meta", meta))
		if v.Stdio() {
			return v.Raw(ctx, message)
		}
		return v.Tell(ctx, message, headers)
	}
	served := findServedKinds(ctx, v)
	eachKind(ctx, v, "version-unsupported", served, func(ctx context.Context, k kind) exam.Outcome {
		version := "1900-01-01" // of the example in the specification
		if isDual(ctx, v) {
			version = "2099-01-01" // an early one may be taken for that of a session
		}
		x := send(ctx, k, v.Meta().With(protocol.MetaVersion, jsonv.String(version)), http.Header{"Mcp-Protocol-Version": {version}})
		if o := expectRefusal(x, protocol.CodeUnsupportedVersion, k.method+" of the version "+version); o.Verdict != verdict.Pass {
			return o
		}
		if exam.ErrorData(x).Lookup("supported").Kind() != jsonv.KindArray {
			return exam.Broken(x, "the error -32022 has no data.supported")
		}
		return exam.BrokenIf(exam.OtherStatus(x, http.StatusBadRequest), x, "the error -32022 has the status %d, expected 400", exam.Status(x))
	})
	for _, k := range served {
		for _, key := range []string{protocol.MetaVersion, protocol.MetaCapabilities} {
			v.Check(ctx, "meta-required", k.method+" without "+key, func(ctx context.Context) exam.Outcome {
				if key == protocol.MetaVersion && isDual(ctx, v) {
					return exam.Unverified("a server of both eras may serve a request without a version as a legacy one")
				}
				return judgeIncomplete(send(ctx, k, v.Meta().Without(key), nil), k, key)
			})
		}
	}
	eachKind(ctx, v, "client-info-optional", served, func(ctx context.Context, k kind) exam.Outcome {
		x := send(ctx, k, v.Meta().Without(protocol.MetaClient), nil)
		return exam.BrokenIf(exam.Refused(x) && !exam.NotFound(x), x, "%s without clientInfo got %s", k.method, exam.Answer(x))
	})
}

// judgeIncomplete judges what a request without a required key of _meta got.
func judgeIncomplete(x *mcp.Exchange, k kind, key string) exam.Outcome {
	if key == protocol.MetaVersion && exam.GotCode(x, protocol.CodeHeaderMismatch) {
		return exam.Held() // the header has no counterpart in the body
	}
	if o := expectRefusal(x, protocol.CodeInvalidParams, k.method+" without "+key); o.Verdict != verdict.Pass {
		return o
	}
	return exam.BrokenIf(exam.OtherStatus(x, http.StatusBadRequest), x,
		"the error -32602 for %s without %s has the status %d, expected 400", k.method, key, exam.Status(x))
}

// expectRefusal judges whether a request got the error with a code.
func expectRefusal(x *mcp.Exchange, code int64, what string) exam.Outcome {
	if exam.Silent(x) {
		return exam.Unverified("there was %s", exam.Answer(x))
	}
	return exam.BrokenIf(!exam.GotCode(x, code), x, "%s got %s, expected the error %d", what, exam.Answer(x), code)
}

// checkHeaders examines headers that differ from the body, or are missing.
func checkHeaders(ctx context.Context, v *exam.Visit) {
	message := v.Frame(7002, v.FirstList(), jsonv.Value{})
	if x := v.Tell(ctx, message, nil); x.Result == nil {
		v.Enter(exam.Unverified("the same request with right headers got %s", exam.Answer(x)), "header-mismatch", "header-missing", "header-code", "header-case")
		return
	}
	rejected := func(rule, what string, k kind, headers http.Header) {
		subject := k.method + " with " + what
		v.Check(ctx, rule, subject, func(ctx context.Context) exam.Outcome {
			return exam.ExpectStatus(k.send(ctx, v, headers), http.StatusBadRequest, subject)
		})
		v.Check(ctx, "header-code", subject, func(ctx context.Context) exam.Outcome {
			x := k.send(ctx, v, headers)
			right := exam.GotCode(x, protocol.CodeHeaderMismatch) || exam.GotCode(x, protocol.CodeUnsupportedVersion)
			return exam.BrokenIf(exam.Status(x) == http.StatusBadRequest && !right, x, "%s got %s, expected the error -32020", subject, exam.Answer(x))
		})
	}
	for _, k := range findServedKinds(ctx, v) {
		other := "prompts/get"
		if k.method == other {
			other = "resources/read"
		}
		rejected("header-mismatch", "another method in Mcp-Method", k, http.Header{"Mcp-Method": {other}})
		rejected("header-mismatch", "another version in MCP-Protocol-Version", k, http.Header{"Mcp-Protocol-Version": {"2025-11-25"}})
		rejected("header-missing", "no Mcp-Method", k, http.Header{"Mcp-Method": nil})
		if !isDual(ctx, v) {
			rejected("header-missing", "no MCP-Protocol-Version", k, http.Header{"Mcp-Protocol-Version": nil})
		}
	}
	if isDual(ctx, v) {
		v.Enter(exam.Unverified("a server of both eras may serve a request without a version as a legacy one"), "header-missing")
	}
	names(ctx, v)
	v.Check(ctx, "header-case", "", func(ctx context.Context) exam.Outcome {
		h := v.InSession(ctx, message)
		h["mcp-METHOD"] = h["Mcp-Method"]
		delete(h, "Mcp-Method")
		x := v.Post(ctx, suite.Request{Body: message.Append(nil)}, h)
		return exam.BrokenIf(exam.Status(x) >= 400, x, "a request with mcp-METHOD for Mcp-Method got %s", exam.Answer(x))
	})
	v.Check(ctx, "header-method-404", "", func(ctx context.Context) exam.Outcome {
		x := v.Tell(ctx, v.Frame(7003, unknown, jsonv.Value{}), nil)
		isWrong := exam.Status(x) != http.StatusNotFound || !exam.NotFound(x)
		return exam.BrokenIf(isWrong, x, "an unknown method got the status %d and %s, expected 404 and -32601", exam.Status(x), exam.Answer(x))
	})
	v.Check(ctx, "header-no-session", "", func(ctx context.Context) exam.Outcome {
		x := v.Tell(ctx, message, nil)
		return exam.BrokenIf(x.HTTP != nil && x.HTTP.Header.Get(exam.SessionID) != "", x, "the response has an Mcp-Session-Id")
	})
	v.Check(ctx, "header-base64", "", func(ctx context.Context) exam.Outcome { return callEncodedName(ctx, v) })
}

// callEncodedName calls a read-only tool with its name in base64.
func callEncodedName(ctx context.Context, v *exam.Visit) exam.Outcome {
	for _, tool := range v.Tools {
		args := argument.Valid(tool)
		hasHeader := strings.Contains(tool.Lookup("inputSchema").String(), "x-mcp-header")
		if !allow.ReadOnly(tool) || hasHeader || v.Policy.Call(tool, args) != "" {
			continue
		}
		name := tool.Lookup("name").Text()
		message := v.Frame(7004, "tools/call", exam.Params(tool, args))
		if x := v.Tell(ctx, message, nil); exam.Refused(x) {
			return exam.Unverified("the same call with a plain name got %s", exam.Answer(x))
		}
		x := v.Tell(ctx, message, http.Header{"Mcp-Name": {"=?base64?" + base64.StdEncoding.EncodeToString([]byte(name)) + "?="}})
		return exam.BrokenIf(exam.Refused(x), x, "a call with the name in base64 got %s", exam.Answer(x))
	}
	return exam.Unverified("no tool may be called")
}

// checkParamHeader examines the first of the headers that repeat arguments of a read-only tool.
func checkParamHeader(ctx context.Context, v *exam.Visit, tool jsonv.Value, headers []protocol.ParamHeader) {
	schema, key, name := tool.Lookup("inputSchema"), headers[0].Path[0], "Mcp-Param-"+headers[0].Name
	send := func(ctx context.Context, args jsonv.Value, value ...string) *mcp.Exchange {
		v.Policy.Call(tool, args)
		message := v.Frame(7005, "tools/call", exam.Params(tool, args))
		h := v.InSession(ctx, message)
		maps.Copy(h, protocol.ParamValues(headers, message.Lookup("params").Append(nil)))
		if len(value) > 0 {
			h[http.CanonicalHeaderKey(name)] = value
		}
		if slices.Equal(value, []string{""}) {
			h.Del(name)
		}
		return v.Post(ctx, suite.Request{Body: message.Append(nil)}, h)
	}
	rejects := func(rule, what, value string, args jsonv.Value) {
		v.Check(ctx, rule, exam.Subject(tool), func(ctx context.Context) exam.Outcome {
			if control := send(ctx, args); !exam.Fulfilled(control) {
				return exam.Unverified("a call with right headers got %s", exam.Answer(control))
			}
			x := send(ctx, args, value)
			right := !exam.OtherStatus(x, http.StatusBadRequest) || rule == "header-invalid-chars" && !exam.Fulfilled(x)
			return exam.BrokenIf(!right, x, "a call with %s got %s and the status %d, expected 400", what, exam.Answer(x), exam.Status(x))
		})
	}
	args, property := argument.Complete(tool), schema.Lookup("properties", key)
	others := map[jsonv.Kind]string{jsonv.KindString: "mcptest-other", jsonv.KindNumber: "987654"}
	if other := others[args.Lookup(key).Kind()]; other != "" {
		rejects("header-param", "another value in "+name, other, args)
		rejects("header-param", "no "+name, "", args)
	}
	const odd = "mcptest-\u00e9"
	isFree := property.Lookup("enum").IsAbsent() &&
		property.Lookup("pattern").IsAbsent() &&
		property.Lookup("format").IsAbsent()
	if property.Lookup("type").Text() == "string" && isFree {
		rejects("header-invalid-chars", "a character that is not ASCII in "+name, odd, args.With(key, jsonv.String(odd)))
	}
	if !slices.Contains(schema.Lookup("required").Texts(), key) {
		v.Check(ctx, "header-param-absent", exam.Subject(tool), func(ctx context.Context) exam.Outcome {
			x := send(ctx, args.Without(key))
			return exam.BrokenIf(exam.GotCode(x, protocol.CodeHeaderMismatch), x, "a call without the argument and without %s got %s", name, exam.Answer(x))
		})
	}
}
