package basics

import (
	"context"
	"maps"
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
	challenge := requestChallenge(ctx, v)
	published := requestMetadata(ctx, v, wellKnown+strings.TrimSuffix(v.At.Path, "/"), wellKnown)
	if !challenge.isBearer() && published.document == nil && !v.Pinned.SendsCredentials() {
		v.EnterAll("auth", exam.Inapplicable("the server asks for no token, and none was given"))
		return
	}
	checkTokens(ctx, v, findServedKinds(ctx, v))
	v.State(ctx, "auth-discovery", "", judgeDiscovery(v, challenge, published))
	if named := challenge.findMetadataURL(); named != "" {
		published = followChallenge(ctx, v, named, published)
	}
	if published.document != nil {
		checkPublished(ctx, v, published)
	}
	v.State(ctx, "auth-query-token", "", exam.Unverified("it would put the token into an address, which logs keep"))
}

// challenge is the WWW-Authenticate of a 401, "" if there was none.
type challenge string

// requestChallenge sends a request without a token.
func requestChallenge(ctx context.Context, v *exam.Visit) challenge {
	message := v.Frame(7301, v.FirstList(), jsonv.Value{})
	anonymous := v.Tell(ctx, message, noToken())
	if exam.Status(anonymous) != http.StatusUnauthorized {
		return ""
	}
	return challenge(anonymous.HTTP.Header.Get("Www-Authenticate"))
}

func (c challenge) isBearer() bool { return strings.HasPrefix(strings.ToLower(string(c)), "bearer") }

// findMetadataURL returns the address of the metadata that the challenge names, or "".
func (c challenge) findMetadataURL() string {
	m := resourceMetadata().FindStringSubmatch(string(c))
	if m == nil {
		return ""
	}
	return m[1]
}

// judgeDiscovery judges whether a client finds the metadata.
func judgeDiscovery(v *exam.Visit, c challenge, published metadata) exam.Outcome {
	if !c.isBearer() {
		return exam.Unverified("the server sent no challenge for a bearer token")
	}
	mustName := published.document == nil || v.Version.Name == "2025-06-18"
	if c.findMetadataURL() == "" && mustName {
		evidence := verdict.Evidence{Sent: "a request without a token", Received: "WWW-Authenticate: " + string(c)}
		return exam.BrokenBy(evidence, "the challenge has no resource_metadata, and %s has no document", wellKnown)
	}
	return exam.Held()
}

// followChallenge requests the metadata at the address that the challenge names, which replaces
// what was found before. That of another host is not requested.
func followChallenge(ctx context.Context, v *exam.Visit, named string, before metadata) metadata {
	u, err := url.Parse(named)
	if err != nil {
		return before
	}
	if u.Host != v.At.Host {
		v.Enter(exam.Unverified("the metadata is on another host: %s", u.Host), "auth-metadata")
		return before
	}
	found := requestMetadata(ctx, v, u.RequestURI())
	if found.document == nil {
		v.Check(ctx, "auth-metadata", "", func(ctx context.Context) exam.Outcome {
			x := v.Post(ctx, suite.Request{Method: http.MethodGet, Path: u.RequestURI()}, noToken())
			return exam.Broken(x, "the metadata at %s got %s", named, exam.Answer(x))
		})
	}
	return found
}

// metadata is what a server publishes about itself as a protected resource.
type metadata struct {
	document *mcp.Exchange // nil: none was found
	place    string        // the path of the document
}

// checkTokens sends requests with an invalid token and without one. A refusal is one of HTTP: an
// error of JSON-RPC with the status 200 does not tell a client to log in. It counts if the
// same request with the credentials of the server gets none.
func checkTokens(ctx context.Context, v *exam.Visit, served []kind) {
	checkInvalidToken(ctx, v, served)
	checkAnonymous(ctx, v, served)
	checkChallenge(ctx, v)
	if !v.Modern() {
		checkInvalidTokenOfSession(ctx, v)
	}
}

// checkInvalidTokenOfSession opens the stream of a session, and ends one, with an invalid token: a server
// may look at the token of requests only.
func checkInvalidTokenOfSession(ctx context.Context, v *exam.Visit) {
	invalid := http.Header{"Authorization": {"Bearer mcptest-invalid-token"}}
	v.Check(ctx, "auth-401", "GET", func(ctx context.Context) exam.Outcome {
		x := openStream(ctx, v, invalid)
		if !isOpenStream(x) {
			return exam.Held() // it is refused, or there is none
		}
		if isOpenStream(openStream(ctx, v, noToken())) {
			return exam.Unverified("the stream is open without a token, too")
		}
		return exam.Broken(x, "GET with an invalid token got an event stream, expected 401")
	})
	v.Check(ctx, "auth-401", "DELETE", func(ctx context.Context) exam.Outcome {
		end := func(with http.Header) *mcp.Exchange {
			h := beginSession(ctx, v)
			if h.Get(exam.SessionID) == "" {
				return &mcp.Exchange{}
			}
			defer v.Post(ctx, suite.Request{Method: http.MethodDelete}, h.Clone())
			own := h.Clone()
			maps.Copy(own, with)
			return v.Post(ctx, suite.Request{Method: http.MethodDelete}, own)
		}
		x := end(invalid)
		if !exam.Served(x) {
			return exam.Held()
		}
		if exam.Served(end(noToken())) {
			return exam.Unverified("a session can be ended without a token, too")
		}
		return exam.Broken(x, "DELETE with an invalid token got the status %d, expected 401", exam.Status(x))
	})
}

func checkInvalidToken(ctx context.Context, v *exam.Visit, served []kind) {
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
}

func checkAnonymous(ctx context.Context, v *exam.Visit, served []kind) {
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
}

func checkChallenge(ctx context.Context, v *exam.Visit) {
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
func requestMetadata(ctx context.Context, v *exam.Visit, places ...string) metadata {
	for _, place := range places {
		x := v.Post(ctx, suite.Request{Method: http.MethodGet, Path: place}, noToken())
		body, err := jsonv.Parse(x.Response)
		// A server may have something else at every path.
		isMetadata := !body.Lookup("resource").IsAbsent() || !body.Lookup("authorization_servers").IsAbsent()
		if exam.Status(x) == http.StatusOK && err == nil && isMetadata {
			return metadata{document: x, place: place}
		}
	}
	return metadata{}
}

// checkPublished examines the metadata of the resource.
func checkPublished(ctx context.Context, v *exam.Visit, published metadata) {
	body, _ := jsonv.Parse(published.document.Response)
	servers := body.Lookup("authorization_servers")
	v.State(ctx, "auth-metadata", "", exam.BrokenIf(
		servers.Len() == 0, published.document, "the metadata names no authorization_servers",
	))
	v.State(ctx, "auth-metadata-resource", "", judgeResource(v, published))
	checkIssuers(ctx, v, servers.Texts())
}

// judgeResource judges whether metadata is about the server.
func judgeResource(v *exam.Visit, published metadata) exam.Outcome {
	document := published.document
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
	return exam.Broken(document, "resource of the metadata at %s is %s, but the server is %s", published.place, u, v.At)
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
	switch strings.ToLower(u.Scheme) {
	case "http":
		return "80"
	case "https":
		return "443"
	}
	return ""
}
