package basics

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/probe/argument"
	. "mcptest/internal/run/probe/exam"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/spec/suite"
)

// Stateless examines what only a stateless revision has.
func Stateless(ctx context.Context, v *Visit) {
	if !v.Modern() {
		return
	}
	signed := Held()
	if v.Unsigned != nil && !v.Signed {
		signed = Broken(v.Unsigned, "no result has serverInfo in _meta")
	}
	v.Enter(signed, "result-server-info")
	for _, l := range v.Listed {
		v.Check(ctx, "cache-scope-pages", l.Method, func(context.Context) Outcome {
			for _, page := range l.Pages[1:] {
				if a, b := Result(l.Pages[0]).Lookup("cacheScope").Text(), Result(page).Lookup("cacheScope").Text(); page.Result != nil && a != b {
					return Broken(page, "the first page of %s has the cacheScope %q, another one %q", l.Method, a, b)
				}
			}
			return Held()
		})
	}
	metadata(ctx, v)
	v.Check(ctx, "stateless-first-request", "", func(ctx context.Context) Outcome {
		message := v.Frame(1, v.FirstList(), jsonv.Value{})
		var x *mcp.Exchange
		if v.Stdio() {
			x = v.Alone(ctx, func(ctx context.Context, c *conn.Conn) *mcp.Exchange { return c.SendRaw(ctx, message.Append(nil)) })
		} else {
			x = v.Tell(ctx, message, nil)
		}
		return BrokenIf(RPCError(x) != nil && !NotFound(x), x, "%s as the first request on a connection got %s", v.FirstList(), Answer(x))
	})
	if v.Stdio() {
		return
	}
	headers(ctx, v)
	for _, tool := range v.Tools {
		names, fault := protocol.ParamHeaders(tool.Lookup("inputSchema"))
		if fault == "" && len(names) > 0 && len(names[0].Path) == 1 && allow.ReadOnly(tool) {
			param(ctx, v, tool, names)
		}
	}
}

// metadata sends requests whose _meta lacks something, or has another version.
func metadata(ctx context.Context, v *Visit) {
	send := func(ctx context.Context, meta jsonv.Value, headers http.Header) *mcp.Exchange {
		message := jsonv.ObjectOf("jsonrpc", "2.0", "id", 7001, "method", v.FirstList(), "params", jsonv.ObjectOf("_meta", meta))
		if v.Stdio() {
			return v.Raw(ctx, message)
		}
		return v.Tell(ctx, message, headers)
	}
	v.Check(ctx, "version-unsupported", "", func(ctx context.Context) Outcome {
		version := "1900-01-01" // of the example in the specification
		if dual(ctx, v) {
			version = "2099-01-01" // an early one may be taken for that of a session
		}
		x := send(ctx, v.Meta().With(protocol.MetaVersion, jsonv.String(version)), http.Header{"Mcp-Protocol-Version": {version}})
		if o := refusedWith(x, protocol.CodeUnsupportedVersion, "a request of the version "+version); o.Verdict != verdict.Pass {
			return o
		}
		if ErrorData(x).Lookup("supported").Kind() != jsonv.KindArray {
			return Broken(x, "the error -32022 has no data.supported")
		}
		return BrokenIf(OtherStatus(x, http.StatusBadRequest), x, "the error -32022 has the status %d, expected 400", Status(x))
	})
	for _, key := range []string{protocol.MetaVersion, protocol.MetaCapabilities} {
		v.Check(ctx, "meta-required", "without "+key, func(ctx context.Context) Outcome {
			if key == protocol.MetaVersion && dual(ctx, v) {
				return Unverified("a server of both eras may serve a request without a version as a legacy one")
			}
			x := send(ctx, v.Meta().Without(key), nil)
			if key == protocol.MetaVersion && GotCode(x, protocol.CodeHeaderMismatch) {
				return Held() // the header has no counterpart in the body
			}
			if o := refusedWith(x, protocol.CodeInvalidParams, "a request without "+key); o.Verdict != verdict.Pass {
				return o
			}
			return BrokenIf(OtherStatus(x, http.StatusBadRequest), x, "the error -32602 for a request without %s has the status %d, expected 400", key, Status(x))
		})
	}
	v.Check(ctx, "client-info-optional", "", func(ctx context.Context) Outcome {
		x := send(ctx, v.Meta().Without(protocol.MetaClient), nil)
		return BrokenIf(Refused(x) && !NotFound(x), x, "a request without clientInfo got %s", Answer(x))
	})
}

// refusedWith judges whether a request got the error with a code.
func refusedWith(x *mcp.Exchange, code int64, what string) Outcome {
	if Silent(x) {
		return Unverified("there was %s", Answer(x))
	}
	return BrokenIf(!GotCode(x, code), x, "%s got %s, expected the error %d", what, Answer(x), code)
}

// headers examines headers that differ from the body, or are missing.
func headers(ctx context.Context, v *Visit) {
	message := v.Frame(7002, v.FirstList(), jsonv.Value{})
	if x := v.Tell(ctx, message, nil); x.Result == nil {
		v.Enter(Unverified("the same request with right headers got %s", Answer(x)), "header-mismatch", "header-missing", "header-code", "header-case")
		return
	}
	rejected := func(rule, what string, headers http.Header) {
		v.Check(ctx, rule, what, func(ctx context.Context) Outcome {
			return ExpectStatus(v.Tell(ctx, message, headers), http.StatusBadRequest, "a request with "+what)
		})
		v.Check(ctx, "header-code", what, func(ctx context.Context) Outcome {
			x := v.Tell(ctx, message, headers)
			right := GotCode(x, protocol.CodeHeaderMismatch) || GotCode(x, protocol.CodeUnsupportedVersion)
			return BrokenIf(Status(x) == http.StatusBadRequest && !right, x, "a request with %s got %s, expected the error -32020", what, Answer(x))
		})
	}
	rejected("header-mismatch", "another method in Mcp-Method", http.Header{"Mcp-Method": {"prompts/get"}})
	rejected("header-mismatch", "another version in MCP-Protocol-Version", http.Header{"Mcp-Protocol-Version": {"2025-11-25"}})
	rejected("header-missing", "no Mcp-Method", http.Header{"Mcp-Method": nil})
	if dual(ctx, v) {
		v.Enter(Unverified("a server of both eras may serve a request without a version as a legacy one"), "header-missing")
	} else {
		rejected("header-missing", "no MCP-Protocol-Version", http.Header{"Mcp-Protocol-Version": nil})
	}
	v.Check(ctx, "header-case", "", func(ctx context.Context) Outcome {
		h := v.InSession(ctx, message)
		h["mcp-METHOD"] = h["Mcp-Method"]
		delete(h, "Mcp-Method")
		x := v.Post(ctx, suite.Request{Body: message.Append(nil)}, h)
		return BrokenIf(Status(x) >= 400, x, "a request with mcp-METHOD for Mcp-Method got %s", Answer(x))
	})
	v.Check(ctx, "header-method-404", "", func(ctx context.Context) Outcome {
		x := v.Tell(ctx, v.Frame(7003, unknown, jsonv.Value{}), nil)
		return BrokenIf(Status(x) != http.StatusNotFound || !NotFound(x), x, "an unknown method got the status %d and %s, expected 404 and -32601", Status(x), Answer(x))
	})
	v.Check(ctx, "header-no-session", "", func(ctx context.Context) Outcome {
		x := v.Tell(ctx, message, nil)
		return BrokenIf(x.HTTP != nil && x.HTTP.Header.Get(SessionID) != "", x, "the response has an Mcp-Session-Id")
	})
	v.Check(ctx, "header-base64", "", func(ctx context.Context) Outcome { return encodedName(ctx, v) })
}

// encodedName calls a read-only tool with its name in base64.
func encodedName(ctx context.Context, v *Visit) Outcome {
	for _, tool := range v.Tools {
		args := argument.Valid(tool)
		if !allow.ReadOnly(tool) || strings.Contains(tool.Lookup("inputSchema").String(), "x-mcp-header") || v.Policy.Call(tool, args) != "" {
			continue
		}
		name := tool.Lookup("name").Text()
		message := v.Frame(7004, "tools/call", Params(tool, args))
		if x := v.Tell(ctx, message, nil); Refused(x) {
			return Unverified("the same call with a plain name got %s", Answer(x))
		}
		x := v.Tell(ctx, message, http.Header{"Mcp-Name": {"=?base64?" + base64.StdEncoding.EncodeToString([]byte(name)) + "?="}})
		return BrokenIf(Refused(x), x, "a call with the name in base64 got %s", Answer(x))
	}
	return Unverified("no tool may be called")
}

// param examines the first of the headers that repeat arguments of a read-only tool.
func param(ctx context.Context, v *Visit, tool jsonv.Value, headers []protocol.ParamHeader) {
	schema, key, name := tool.Lookup("inputSchema"), headers[0].Path[0], "Mcp-Param-"+headers[0].Name
	send := func(ctx context.Context, args jsonv.Value, value ...string) *mcp.Exchange {
		v.Policy.Call(tool, args)
		message := v.Frame(7005, "tools/call", Params(tool, args))
		h := v.InSession(ctx, message)
		for key, values := range protocol.ParamValues(headers, message.Lookup("params").Append(nil)) {
			h[key] = values
		}
		if len(value) > 0 {
			h[http.CanonicalHeaderKey(name)] = value
		}
		if slices.Equal(value, []string{""}) {
			h.Del(name)
		}
		return v.Post(ctx, suite.Request{Body: message.Append(nil)}, h)
	}
	rejects := func(rule, what, value string, args jsonv.Value) {
		v.Check(ctx, rule, Subject(tool), func(ctx context.Context) Outcome {
			if control := send(ctx, args); !Fulfilled(control) {
				return Unverified("a call with right headers got %s", Answer(control))
			}
			x := send(ctx, args, value)
			right := !OtherStatus(x, http.StatusBadRequest) || rule == "header-invalid-chars" && !Fulfilled(x)
			return BrokenIf(!right, x, "a call with %s got %s and the status %d, expected 400", what, Answer(x), Status(x))
		})
	}
	args, property := argument.Complete(tool), schema.Lookup("properties", key)
	others := map[jsonv.Kind]string{jsonv.KindString: "mcptest-other", jsonv.KindNumber: "987654"}
	if other := others[args.Lookup(key).Kind()]; other != "" {
		rejects("header-param", "another value in "+name, other, args)
		rejects("header-param", "no "+name, "", args)
	}
	const odd = "mcptest-\u00e9"
	if property.Lookup("type").Text() == "string" && property.Lookup("enum").IsAbsent() && property.Lookup("pattern").IsAbsent() && property.Lookup("format").IsAbsent() {
		rejects("header-invalid-chars", "a character that is not ASCII in "+name, odd, args.With(key, jsonv.String(odd)))
	}
	if !slices.Contains(schema.Lookup("required").Texts(), key) {
		v.Check(ctx, "header-param-absent", Subject(tool), func(ctx context.Context) Outcome {
			x := send(ctx, args.Without(key))
			return BrokenIf(GotCode(x, protocol.CodeHeaderMismatch), x, "a call without the argument and without %s got %s", name, Answer(x))
		})
	}
}
