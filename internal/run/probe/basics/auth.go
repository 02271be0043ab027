package basics

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/web"
	"mcptest/internal/client/mcp"
	"mcptest/internal/run/probe/exam"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/spec/suite"
)

var resourceMetadata = lazy.Regexp(`resource_metadata="?([^",\s]+)"?`)

// wellKnown is where the metadata of a resource is.
const wellKnown = "/.well-known/oauth-protected-resource"

// noToken are the headers of a request without credentials.
func noToken() http.Header { return http.Header{"Authorization": nil} }

// Authorization examines a server that asks for a bearer token, publishes metadata, or gets
// credentials.
func Authorization(ctx context.Context, v *exam.Visit) {
	if v.Stdio() || v.Hello.HTTP == nil {
		return
	}
	message := v.Frame(7301, v.FirstList(), jsonv.Value{})
	anonymous := v.Tell(ctx, message, noToken())
	challenge := ""
	if exam.Status(anonymous) == http.StatusUnauthorized {
		challenge = anonymous.HTTP.Header.Get("Www-Authenticate")
	}
	document, place := requestMetadata(ctx, v, wellKnown+strings.TrimSuffix(v.At.Path, "/"), wellKnown)
	bearer := strings.HasPrefix(strings.ToLower(challenge), "bearer")
	if !bearer && document == nil && !v.Pinned.SendsCredentials() {
		v.EnterAll("auth", exam.Inapplicable("the server asks for no token, and none was given"))
		return
	}
	checkTokens(ctx, v, findServedKinds(ctx, v))
	named := ""
	if m := resourceMetadata().FindStringSubmatch(challenge); m != nil {
		named = m[1]
	}
	discovery := exam.Held()
	switch {
	case !bearer:
		discovery = exam.Unverified("the server sent no challenge for a bearer token")
	case named == "" && (document == nil || v.Version.Name == "2025-06-18"):
		evidence := verdict.Evidence{Sent: "a request without a token", Received: "WWW-Authenticate: " + challenge}
		discovery = exam.BrokenBy(evidence, "the challenge has no resource_metadata, and %s has no document", wellKnown)
	}
	v.State(ctx, "auth-discovery", "", discovery)
	u, err := url.Parse(named)
	if named != "" && err == nil && u.Host == v.At.Host {
		if document, place = requestMetadata(ctx, v, u.RequestURI()); document == nil {
			v.Check(ctx, "auth-metadata", "", func(ctx context.Context) exam.Outcome {
				x := v.Post(ctx, suite.Request{Method: http.MethodGet, Path: u.RequestURI()}, noToken())
				return exam.Broken(x, "the metadata at %s got %s", named, exam.Answer(x))
			})
		}
	} else if named != "" && err == nil {
		v.Enter(exam.Unverified("the metadata is on another host: %s", u.Host), "auth-metadata")
	}
	if document != nil {
		checkPublished(ctx, v, document, place)
	}
	v.State(ctx, "auth-query-token", "", exam.Unverified("it would put the token into an address, which logs keep"))
}

// checkTokens sends requests with an invalid token and without one. A refusal is one of HTTP: an
// error of JSON-RPC with the status 200 does not tell a client to log in. It counts if the
// same request with the credentials of the server gets none.
func checkTokens(ctx context.Context, v *exam.Visit, served []kind) {
	eachKind(ctx, v, "auth-401", served, func(ctx context.Context, k kind) exam.Outcome {
		x := k.send(ctx, v, http.Header{"Authorization": {"Bearer mcptest-invalid-token"}})
		s := exam.Status(x)
		switch {
		case s == 0 || s == http.StatusTooManyRequests:
			return exam.Unverified("there was %s", exam.Answer(x))
		case exam.RefusesAll(s) && s >= 500 && exam.Status(k.send(ctx, v, nil)) == s:
			return exam.Unverified("the same request with the credentials of the server got HTTP %d, too", s)
		case isRefusedWithin(ctx, v, k, x):
			return exam.Broken(x, "%s with an invalid token got the status %d and %s, expected 401", k.method, s, exam.Answer(x))
		case s < 300 && fulfills(k.send(ctx, v, noToken())):
			return exam.Unverified("the server answers without a token, too")
		}
		return exam.ExpectStatus(x, http.StatusUnauthorized, k.method+" with an invalid token")
	})
	eachKind(ctx, v, "auth-anonymous", served, func(ctx context.Context, k kind) exam.Outcome {
		x := k.send(ctx, v, noToken())
		s := exam.Status(x)
		switch {
		case isRefusedWithin(ctx, v, k, x) && v.Pinned.SendsCredentials():
			return exam.Broken(x, "%s without a token got the status %d and %s, expected 401", k.method, s, exam.Answer(x))
		case s < 300 || s == http.StatusTooManyRequests:
			return exam.Held()
		case exam.RefusesAll(s) && s >= 500 && exam.Status(k.send(ctx, v, nil)) == s:
			return exam.Held()
		}
		return exam.ExpectStatus(x, http.StatusUnauthorized, k.method+" without a token")
	})
	message := v.Frame(7301, v.FirstList(), jsonv.Value{})
	v.Check(ctx, "auth-challenge", "", func(ctx context.Context) exam.Outcome {
		x := v.Tell(ctx, message, noToken())
		if exam.Status(x) != http.StatusUnauthorized {
			return exam.Unverified("a request without a token got %s", exam.Answer(x))
		}
		return exam.BrokenIf(x.HTTP.Header.Get("Www-Authenticate") == "", x, "the 401 has no WWW-Authenticate")
	})
}

// isRefusedWithin reports whether a request got an error of JSON-RPC within a successful
// status, and the same request with the credentials of the server gets none.
func isRefusedWithin(ctx context.Context, v *exam.Visit, k kind, x *mcp.Exchange) bool {
	return exam.Served(x) && exam.RPCError(x) != nil && exam.RPCError(k.send(ctx, v, nil)) == nil
}

// requestMetadata requests the metadata of the resource at places of the server.
func requestMetadata(ctx context.Context, v *exam.Visit, places ...string) (found *mcp.Exchange, place string) {
	for _, place := range places {
		x := v.Post(ctx, suite.Request{Method: http.MethodGet, Path: place}, noToken())
		body, err := jsonv.Parse(x.Response)
		// A server may have something else at every path.
		isMetadata := !body.Lookup("resource").IsAbsent() || !body.Lookup("authorization_servers").IsAbsent()
		if exam.Status(x) == http.StatusOK && err == nil && isMetadata {
			return x, place
		}
	}
	return nil, ""
}

// checkPublished examines the metadata of the resource.
func checkPublished(ctx context.Context, v *exam.Visit, document *mcp.Exchange, place string) {
	body, _ := jsonv.Parse(document.Response)
	servers := body.Lookup("authorization_servers")
	v.State(ctx, "auth-metadata", "", exam.BrokenIf(servers.Len() == 0, document, "the metadata names no authorization_servers"))
	v.State(ctx, "auth-metadata-resource", "", judgeResource(v, document, place))
	checkIssuers(ctx, v, servers.Texts())
}

// judgeResource judges whether metadata is about the server.
func judgeResource(v *exam.Visit, document *mcp.Exchange, place string) exam.Outcome {
	body, _ := jsonv.Parse(document.Response)
	u, err := url.Parse(body.Lookup("resource").Text())
	switch {
	case err != nil || u.Host == "":
		return exam.Broken(document, "resource of the metadata is %s, expected the address of the server", body.Lookup("resource").OrNull().Short(80))
	case sameOrigin(u, v.At):
		return exam.Held()
	case v.Local && !web.IsLoopback(u.Hostname()):
		return exam.Unverified("the server is tested on this machine, its resource is %s", u.Host)
	}
	return exam.Broken(document, "resource of the metadata at %s is %s, but the server is %s", place, u, v.At)
}

// sameOrigin compares the origins of two addresses. The names of this machine are equal.
func sameOrigin(a, b *url.URL) bool {
	host := func(u *url.URL) string {
		if web.IsLoopback(u.Hostname()) {
			return "localhost"
		}
		return strings.ToLower(u.Hostname())
	}
	return strings.EqualFold(a.Scheme, b.Scheme) && host(a) == host(b) && findPort(a) == findPort(b)
}

// findPort returns the port of an address, also if it is that of the scheme.
func findPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Port()
	}
	return map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)]
}
