package probe

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/probe/argument"
	"mcptest/internal/spec/suite"
)

// statelessRules examines the rules of the family stateless.
type statelessRules struct{ *visit }

// cached reports whether results of a method have hints for caches.
func cached(method string) bool {
	return slices.Contains([]string{protocol.MethodDiscover, "tools/list", "resources/list", "resources/templates/list", "prompts/list", "resources/read"}, method)
}

// modernResult examines what 2026-07-28 requires of every result.
func (v *visit) modernResult(x *mcp.Exchange, res jsonv.Value, add func(rule string, o outcome)) {
	kind := res.Lookup("resultType")
	switch {
	case kind.Kind() != jsonv.KindString:
		add("result-type", broken(shown(x), "the result of %s has no resultType", x.Method))
	case kind.Text() != "complete" && kind.Text() != "input_required" && v.caps.Lookup("extensions").Len() == 0:
		add("result-type", broken(shown(x), "the result of %s has the resultType %s", x.Method, kind.Short(40)))
	}
	if v.signed = v.signed || !res.Lookup("_meta", protocol.MetaServer).IsAbsent(); !v.signed {
		v.unsigned = x
	}
	if cached(x.Method) && kind.Text() != "input_required" {
		ttl, scope := res.Lookup("ttlMs"), res.Lookup("cacheScope").Text()
		switch {
		case ttl.Kind() != jsonv.KindNumber || ttl.Float64() < 0:
			add("cache-hints", broken(shown(x), "ttlMs of %s is %s, expected a number of 0 or more", x.Method, ttl.OrNull().Short(40)))
		case scope != "public" && scope != "private":
			add("cache-hints", broken(shown(x), "cacheScope of %s is %s, expected public or private", x.Method, res.Lookup("cacheScope").OrNull().Short(40)))
		}
	}
	if kind.Text() != "input_required" {
		return
	}
	asked := res.Lookup("inputRequests")
	switch {
	case !protocol.AsksInput(x.Method):
		add("input-method", broken(shown(x), "%s asks for input", x.Method))
	case asked.IsAbsent() && res.Lookup("requestState").IsAbsent():
		add("input-content", broken(shown(x), "the result asks for input, but has neither inputRequests nor requestState"))
	}
	for _, request := range asked.Members() {
		method := request.Lookup("method").Text()
		if protocol.CapabilityOf(method) == "" {
			add("input-kind", broken(shown(x), "inputRequests has the method %s", request.Lookup("method").OrNull().Short(60)))
		} else {
			add("input-declared", broken(shown(x), "inputRequests has %s, but the client does not declare it", method))
		}
	}
}

// stateless examines what only a stateless revision has.
func (v statelessRules) stateless(ctx context.Context) {
	if !v.modern() {
		return
	}
	if v.unsigned != nil && !v.signed {
		v.enter("result-server-info", broken(shown(v.unsigned), "no result has serverInfo in _meta"))
	} else {
		v.enter("result-server-info", held())
	}
	for _, l := range v.listed {
		v.check(ctx, "cache-scope-pages", l.Method, func(context.Context) outcome {
			for _, page := range l.pages[1:] {
				if a, b := result(l.pages[0]).Lookup("cacheScope").Text(), result(page).Lookup("cacheScope").Text(); page.Result != nil && a != b {
					return broken(shown(page), "the first page of %s has the cacheScope %q, another one %q", l.Method, a, b)
				}
			}
			return held()
		})
	}
	v.metadata(ctx)
	v.check(ctx, "stateless-first-request", "", func(ctx context.Context) outcome {
		x := v.alone(ctx, v.frame(1, v.firstList(), jsonv.Value{}))
		if got, ok := code(x); ok && got != protocol.CodeMethodNotFound {
			return broken(shown(x), "%s as the first request on a connection got %s", v.firstList(), answer(x))
		}
		return held()
	})
	if !v.stdio() {
		v.headers(ctx)
		v.params(ctx)
	}
}

// firstList is a list that the server returns.
func (v *visit) firstList() string {
	for _, l := range v.listed {
		if l.pages[0].Result != nil {
			return l.Method
		}
	}
	return v.idle()
}

// alone sends a message unchanged: over HTTP with its headers, on stdio in a process of
// its own.
func (v statelessRules) alone(ctx context.Context, message jsonv.Value) *mcp.Exchange {
	if !v.stdio() {
		return v.post(ctx, suite.Request{Body: message.Append(nil)}, v.inSession(ctx, message))
	}
	c, err := v.bare(ctx)
	if err != nil {
		return &mcp.Exchange{Cause: err}
	}
	defer c.Close(context.WithoutCancel(ctx))
	limited, cancel := mcp.WithLimit(ctx, "response", v.server.ConnectTimeout)
	defer cancel()
	return c.SendRaw(limited, message.Append(nil))
}

// deviate sends a message that is not valid: over HTTP with the given headers.
func (v statelessRules) deviate(ctx context.Context, message jsonv.Value, headers http.Header) *mcp.Exchange {
	if v.stdio() {
		return v.raw(ctx, message)
	}
	return v.post(ctx, suite.Request{Body: message.Append(nil)}, headers)
}

// metadata sends requests whose _meta lacks something, or has another version.
func (v statelessRules) metadata(ctx context.Context) {
	request := func(meta jsonv.Value) jsonv.Value {
		return jsonv.ObjectOf("jsonrpc", "2.0", "id", 7001, "method", v.firstList(), "params", jsonv.ObjectOf("_meta", meta))
	}
	v.check(ctx, "version-unsupported", "", func(ctx context.Context) outcome {
		version := "1900-01-01" // of the example in the specification
		if v.dual(ctx) {
			version = "2099-01-01" // an early one may be taken for that of a session
		}
		message := request(v.meta().With(protocol.MetaVersion, jsonv.String(version)))
		h := v.inSession(ctx, message)
		h.Set("Mcp-Protocol-Version", version)
		x := v.deviate(ctx, message, h)
		got, ok := code(x)
		if !ok && x.Response == nil && status(x) == 0 {
			return unverified("there was %s", answer(x))
		}
		if !ok || got != protocol.CodeUnsupportedVersion {
			return broken(shown(x), "a request of the version %s got %s, expected the error -32022", version, answer(x))
		}
		data, _ := jsonv.Parse(rpcError(x).Data)
		switch {
		case data.Lookup("supported").Kind() != jsonv.KindArray:
			return broken(shown(x), "the error -32022 has no data.supported")
		case status(x) != 0 && status(x) != http.StatusBadRequest:
			return broken(shown(x), "the error -32022 has the status %d, expected 400", status(x))
		}
		return held()
	})
	for _, key := range []string{protocol.MetaVersion, protocol.MetaCapabilities} {
		v.check(ctx, "meta-required", "without "+key, func(ctx context.Context) outcome {
			if key == protocol.MetaVersion && v.dual(ctx) {
				return unverified("a server of both eras may serve a request without a version as a legacy one")
			}
			message := request(v.meta().Without(key))
			x := v.deviate(ctx, message, v.inSession(ctx, message))
			got, ok := code(x)
			switch {
			case !ok && x.Response == nil && status(x) == 0:
				return unverified("there was %s", answer(x))
			case ok && key == protocol.MetaVersion && got == protocol.CodeHeaderMismatch:
				return held() // the header has no counterpart in the body
			case !ok || got != protocol.CodeInvalidParams:
				return broken(shown(x), "a request without %s got %s, expected the error -32602", key, answer(x))
			case status(x) != 0 && status(x) != http.StatusBadRequest:
				return broken(shown(x), "the error -32602 for a request without %s has the status %d, expected 400", key, status(x))
			}
			return held()
		})
	}
	v.check(ctx, "client-info-optional", "", func(ctx context.Context) outcome {
		message := request(v.meta().Without(protocol.MetaClient))
		x := v.deviate(ctx, message, v.inSession(ctx, message))
		if refused(x) && !notFound(x) {
			return broken(shown(x), "a request without clientInfo got %s", answer(x))
		}
		return held()
	})
}

// headers examines headers that differ from the body, or are missing.
func (v statelessRules) headers(ctx context.Context) {
	message := v.frame(7002, v.firstList(), jsonv.Value{})
	send := func(ctx context.Context, change func(h http.Header)) *mcp.Exchange {
		h := v.inSession(ctx, message)
		change(h)
		return v.post(ctx, suite.Request{Body: message.Append(nil)}, h)
	}
	if x := send(ctx, func(http.Header) {}); x.Result == nil {
		for _, rule := range []string{"header-mismatch", "header-missing", "header-code", "header-case"} {
			v.enter(rule, unverified("the same request with right headers got %s", answer(x)))
		}
		return
	}
	rejected := func(rule, what string, change func(h http.Header)) {
		v.check(ctx, rule, what, func(ctx context.Context) outcome {
			if x := send(ctx, change); status(x) != http.StatusBadRequest && status(x) != 0 {
				return broken(shown(x), "a request with %s got the status %d, expected 400", what, status(x))
			}
			return held()
		})
		v.check(ctx, "header-code", what, func(ctx context.Context) outcome {
			x := send(ctx, change)
			if got, ok := code(x); status(x) != http.StatusBadRequest || ok && (got == protocol.CodeHeaderMismatch || got == protocol.CodeUnsupportedVersion) {
				return held()
			}
			return broken(shown(x), "a request with %s got %s, expected the error -32020", what, answer(x))
		})
	}
	rejected("header-mismatch", "another method in Mcp-Method", func(h http.Header) { h.Set("Mcp-Method", "prompts/get") })
	rejected("header-mismatch", "another version in MCP-Protocol-Version", func(h http.Header) { h.Set("Mcp-Protocol-Version", "2025-11-25") })
	rejected("header-missing", "no Mcp-Method", func(h http.Header) { h["Mcp-Method"] = nil })
	if v.dual(ctx) {
		v.enter("header-missing", unverified("a server of both eras may serve a request without a version as a legacy one"))
	} else {
		rejected("header-missing", "no MCP-Protocol-Version", func(h http.Header) { h["Mcp-Protocol-Version"] = nil })
	}
	v.check(ctx, "header-case", "", func(ctx context.Context) outcome {
		x := send(ctx, func(h http.Header) {
			h["mcp-METHOD"] = h["Mcp-Method"]
			delete(h, "Mcp-Method")
		})
		if status(x) >= 400 {
			return broken(shown(x), "a request with mcp-METHOD for Mcp-Method got %s", answer(x))
		}
		return held()
	})
	v.check(ctx, "header-method-404", "", v.methodStatus)
	v.check(ctx, "header-no-session", "", func(ctx context.Context) outcome {
		if x := send(ctx, func(http.Header) {}); x.HTTP != nil && x.HTTP.Header.Get("Mcp-Session-Id") != "" {
			return broken(shown(x), "the response has an Mcp-Session-Id")
		}
		return held()
	})
	v.check(ctx, "header-base64", "", v.encodedName)
}

// methodStatus sends a request with an unknown method.
func (v statelessRules) methodStatus(ctx context.Context) outcome {
	message := v.frame(7003, unknown, jsonv.Value{})
	x := v.post(ctx, suite.Request{Body: message.Append(nil)}, v.inSession(ctx, message))
	if status(x) != http.StatusNotFound || !notFound(x) {
		return broken(shown(x), "an unknown method got the status %d and %s, expected 404 and -32601", status(x), answer(x))
	}
	return held()
}

// encodedName calls a read-only tool with its name in base64.
func (v statelessRules) encodedName(ctx context.Context) outcome {
	for _, tool := range v.tools {
		if !allow.ReadOnly(tool) || strings.Contains(tool.Lookup("inputSchema").String(), "x-mcp-header") {
			continue
		}
		args := jsonschema.Arguments(tool.Lookup("inputSchema"))
		if why := v.policy.Call(tool, args); why != "" {
			continue
		}
		name := tool.Lookup("name").Text()
		message := v.frame(7004, "tools/call", jsonv.ObjectOf("name", name, "arguments", args))
		h := v.inSession(ctx, message)
		if x := v.post(ctx, suite.Request{Body: message.Append(nil)}, h); refused(x) {
			return unverified("the same call with a plain name got %s", answer(x))
		}
		h.Set("Mcp-Name", "=?base64?"+base64.StdEncoding.EncodeToString([]byte(name))+"?=")
		if x := v.post(ctx, suite.Request{Body: message.Append(nil)}, h); refused(x) {
			return broken(shown(x), "a call with the name in base64 got %s", answer(x))
		}
		return held()
	}
	return unverified("no tool may be called")
}

// params examines the headers that repeat arguments of read-only tools.
func (v statelessRules) params(ctx context.Context) {
	for _, tool := range v.tools {
		headers, fault := protocol.ParamHeaders(tool.Lookup("inputSchema"))
		if fault == "" && len(headers) > 0 && len(headers[0].Path) == 1 && allow.ReadOnly(tool) {
			v.param(ctx, tool, headers)
		}
	}
}

// param examines the first of the headers.
func (v statelessRules) param(ctx context.Context, tool jsonv.Value, headers []protocol.ParamHeader) {
	schema, key, name := tool.Lookup("inputSchema"), headers[0].Path[0], "Mcp-Param-"+headers[0].Name
	send := func(ctx context.Context, args jsonv.Value, value ...string) *mcp.Exchange {
		v.policy.Call(tool, args)
		message := v.frame(7005, "tools/call", jsonv.ObjectOf("name", tool.Lookup("name"), "arguments", args))
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
	served := func(x *mcp.Exchange) bool { return x.Result != nil && !result(x).Lookup("isError").Bool() }
	rejects := func(rule, what, value string, args jsonv.Value) {
		v.check(ctx, rule, subject(tool), func(ctx context.Context) outcome {
			if control := send(ctx, args); !served(control) {
				return unverified("a call with right headers got %s", answer(control))
			}
			x := send(ctx, args, value)
			if s := status(x); s == 0 || s == http.StatusBadRequest || rule == "header-invalid-chars" && !served(x) {
				return held()
			}
			return broken(shown(x), "a call with %s got %s and the status %d, expected 400", what, answer(x), status(x))
		})
	}
	args, property := jsonschema.Arguments(argument.Complete(schema)), schema.Lookup("properties", key)
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
			if got, ok := code(x); ok && got == protocol.CodeHeaderMismatch {
				return broken(shown(x), "a call without the argument and without %s got %s", name, answer(x))
			}
			return held()
		})
	}
}
