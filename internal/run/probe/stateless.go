package probe

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
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/spec/suite"
)

// stateless examines what only a stateless revision has.
func stateless(ctx context.Context, v *visit) {
	if !v.modern() {
		return
	}
	signed := held()
	if v.unsigned != nil && !v.signed {
		signed = broken(v.unsigned, "no result has serverInfo in _meta")
	}
	v.enter(signed, "result-server-info")
	for _, l := range v.listed {
		v.check(ctx, "cache-scope-pages", l.Method, func(context.Context) outcome {
			for _, page := range l.pages[1:] {
				if a, b := result(l.pages[0]).Lookup("cacheScope").Text(), result(page).Lookup("cacheScope").Text(); page.Result != nil && a != b {
					return broken(page, "the first page of %s has the cacheScope %q, another one %q", l.Method, a, b)
				}
			}
			return held()
		})
	}
	metadata(ctx, v)
	v.check(ctx, "stateless-first-request", "", func(ctx context.Context) outcome {
		message := v.frame(1, v.firstList(), jsonv.Value{})
		var x *mcp.Exchange
		if v.stdio() {
			x = v.alone(ctx, func(ctx context.Context, c *conn.Conn) *mcp.Exchange { return c.SendRaw(ctx, message.Append(nil)) })
		} else {
			x = v.tell(ctx, message, nil)
		}
		return brokenIf(rpcError(x) != nil && !notFound(x), x, "%s as the first request on a connection got %s", v.firstList(), answer(x))
	})
	if v.stdio() {
		return
	}
	headers(ctx, v)
	for _, tool := range v.tools {
		names, fault := protocol.ParamHeaders(tool.Lookup("inputSchema"))
		if fault == "" && len(names) > 0 && len(names[0].Path) == 1 && allow.ReadOnly(tool) {
			param(ctx, v, tool, names)
		}
	}
}

// metadata sends requests whose _meta lacks something, or has another version.
func metadata(ctx context.Context, v *visit) {
	send := func(ctx context.Context, meta jsonv.Value, headers http.Header) *mcp.Exchange {
		message := jsonv.ObjectOf("jsonrpc", "2.0", "id", 7001, "method", v.firstList(), "params", jsonv.ObjectOf("_meta", meta))
		if v.stdio() {
			return v.raw(ctx, message)
		}
		return v.tell(ctx, message, headers)
	}
	v.check(ctx, "version-unsupported", "", func(ctx context.Context) outcome {
		version := "1900-01-01" // of the example in the specification
		if dual(ctx, v) {
			version = "2099-01-01" // an early one may be taken for that of a session
		}
		x := send(ctx, v.meta().With(protocol.MetaVersion, jsonv.String(version)), http.Header{"Mcp-Protocol-Version": {version}})
		if o := refusedWith(x, protocol.CodeUnsupportedVersion, "a request of the version "+version); o.verdict != verdict.Pass {
			return o
		}
		if errorData(x).Lookup("supported").Kind() != jsonv.KindArray {
			return broken(x, "the error -32022 has no data.supported")
		}
		return brokenIf(otherStatus(x, http.StatusBadRequest), x, "the error -32022 has the status %d, expected 400", status(x))
	})
	for _, key := range []string{protocol.MetaVersion, protocol.MetaCapabilities} {
		v.check(ctx, "meta-required", "without "+key, func(ctx context.Context) outcome {
			if key == protocol.MetaVersion && dual(ctx, v) {
				return unverified("a server of both eras may serve a request without a version as a legacy one")
			}
			x := send(ctx, v.meta().Without(key), nil)
			if key == protocol.MetaVersion && gotCode(x, protocol.CodeHeaderMismatch) {
				return held() // the header has no counterpart in the body
			}
			if o := refusedWith(x, protocol.CodeInvalidParams, "a request without "+key); o.verdict != verdict.Pass {
				return o
			}
			return brokenIf(otherStatus(x, http.StatusBadRequest), x, "the error -32602 for a request without %s has the status %d, expected 400", key, status(x))
		})
	}
	v.check(ctx, "client-info-optional", "", func(ctx context.Context) outcome {
		x := send(ctx, v.meta().Without(protocol.MetaClient), nil)
		return brokenIf(refused(x) && !notFound(x), x, "a request without clientInfo got %s", answer(x))
	})
}

// refusedWith judges whether a request got the error with a code.
func refusedWith(x *mcp.Exchange, code int64, what string) outcome {
	if silent(x) {
		return unverified("there was %s", answer(x))
	}
	return brokenIf(!gotCode(x, code), x, "%s got %s, expected the error %d", what, answer(x), code)
}

// headers examines headers that differ from the body, or are missing.
func headers(ctx context.Context, v *visit) {
	message := v.frame(7002, v.firstList(), jsonv.Value{})
	if x := v.tell(ctx, message, nil); x.Result == nil {
		v.enter(unverified("the same request with right headers got %s", answer(x)), "header-mismatch", "header-missing", "header-code", "header-case")
		return
	}
	rejected := func(rule, what string, headers http.Header) {
		v.check(ctx, rule, what, func(ctx context.Context) outcome {
			return expectStatus(v.tell(ctx, message, headers), http.StatusBadRequest, "a request with "+what)
		})
		v.check(ctx, "header-code", what, func(ctx context.Context) outcome {
			x := v.tell(ctx, message, headers)
			right := gotCode(x, protocol.CodeHeaderMismatch) || gotCode(x, protocol.CodeUnsupportedVersion)
			return brokenIf(status(x) == http.StatusBadRequest && !right, x, "a request with %s got %s, expected the error -32020", what, answer(x))
		})
	}
	rejected("header-mismatch", "another method in Mcp-Method", http.Header{"Mcp-Method": {"prompts/get"}})
	rejected("header-mismatch", "another version in MCP-Protocol-Version", http.Header{"Mcp-Protocol-Version": {"2025-11-25"}})
	rejected("header-missing", "no Mcp-Method", http.Header{"Mcp-Method": nil})
	if dual(ctx, v) {
		v.enter(unverified("a server of both eras may serve a request without a version as a legacy one"), "header-missing")
	} else {
		rejected("header-missing", "no MCP-Protocol-Version", http.Header{"Mcp-Protocol-Version": nil})
	}
	v.check(ctx, "header-case", "", func(ctx context.Context) outcome {
		h := v.inSession(ctx, message)
		h["mcp-METHOD"] = h["Mcp-Method"]
		delete(h, "Mcp-Method")
		x := v.post(ctx, suite.Request{Body: message.Append(nil)}, h)
		return brokenIf(status(x) >= 400, x, "a request with mcp-METHOD for Mcp-Method got %s", answer(x))
	})
	v.check(ctx, "header-method-404", "", func(ctx context.Context) outcome {
		x := v.tell(ctx, v.frame(7003, unknown, jsonv.Value{}), nil)
		return brokenIf(status(x) != http.StatusNotFound || !notFound(x), x, "an unknown method got the status %d and %s, expected 404 and -32601", status(x), answer(x))
	})
	v.check(ctx, "header-no-session", "", func(ctx context.Context) outcome {
		x := v.tell(ctx, message, nil)
		return brokenIf(x.HTTP != nil && x.HTTP.Header.Get(sessionID) != "", x, "the response has an Mcp-Session-Id")
	})
	v.check(ctx, "header-base64", "", func(ctx context.Context) outcome { return encodedName(ctx, v) })
}

// encodedName calls a read-only tool with its name in base64.
func encodedName(ctx context.Context, v *visit) outcome {
	for _, tool := range v.tools {
		args := argument.Valid(tool)
		if !allow.ReadOnly(tool) || strings.Contains(tool.Lookup("inputSchema").String(), "x-mcp-header") || v.policy.Call(tool, args) != "" {
			continue
		}
		name := tool.Lookup("name").Text()
		message := v.frame(7004, "tools/call", params(tool, args))
		if x := v.tell(ctx, message, nil); refused(x) {
			return unverified("the same call with a plain name got %s", answer(x))
		}
		x := v.tell(ctx, message, http.Header{"Mcp-Name": {"=?base64?" + base64.StdEncoding.EncodeToString([]byte(name)) + "?="}})
		return brokenIf(refused(x), x, "a call with the name in base64 got %s", answer(x))
	}
	return unverified("no tool may be called")
}

// param examines the first of the headers that repeat arguments of a read-only tool.
func param(ctx context.Context, v *visit, tool jsonv.Value, headers []protocol.ParamHeader) {
	schema, key, name := tool.Lookup("inputSchema"), headers[0].Path[0], "Mcp-Param-"+headers[0].Name
	send := func(ctx context.Context, args jsonv.Value, value ...string) *mcp.Exchange {
		v.policy.Call(tool, args)
		message := v.frame(7005, "tools/call", params(tool, args))
		h := v.inSession(ctx, message)
		for key, values := range protocol.ParamValues(headers, message.Lookup("params").Append(nil)) {
			h[key] = values
		}
		if len(value) > 0 {
			h[http.CanonicalHeaderKey(name)] = value
		}
		if slices.Equal(value, []string{""}) {
			h.Del(name)
		}
		return v.post(ctx, suite.Request{Body: message.Append(nil)}, h)
	}
	rejects := func(rule, what, value string, args jsonv.Value) {
		v.check(ctx, rule, subject(tool), func(ctx context.Context) outcome {
			if control := send(ctx, args); !fulfilled(control) {
				return unverified("a call with right headers got %s", answer(control))
			}
			x := send(ctx, args, value)
			right := !otherStatus(x, http.StatusBadRequest) || rule == "header-invalid-chars" && !fulfilled(x)
			return brokenIf(!right, x, "a call with %s got %s and the status %d, expected 400", what, answer(x), status(x))
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
		v.check(ctx, "header-param-absent", subject(tool), func(ctx context.Context) outcome {
			x := send(ctx, args.Without(key))
			return brokenIf(gotCode(x, protocol.CodeHeaderMismatch), x, "a call without the argument and without %s got %s", name, answer(x))
		})
	}
}
