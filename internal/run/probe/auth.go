package probe

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/web"
	"mcptest/internal/client/mcp"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/spec/suite"
)

var resourceMetadata = regexp.MustCompile(`resource_metadata="?([^",\s]+)"?`)

// wellKnown is where the metadata of a resource is.
const wellKnown = "/.well-known/oauth-protected-resource"

// authRules examines the rules of the family auth.
type authRules struct{ *visit }

// auth examines authorization. It applies if the server asks for a bearer token, publishes
// metadata, or gets credentials.
func (v authRules) auth(ctx context.Context) {
	if v.stdio() || v.hello.HTTP == nil {
		return
	}
	at, err := url.Parse(v.server.URL)
	if err != nil {
		return
	}
	message := v.frame(7301, v.firstList(), jsonv.Value{})
	with := func(ctx context.Context, authorization []string) *mcp.Exchange {
		h := v.inSession(ctx, message)
		h["Authorization"] = authorization
		return v.post(ctx, suite.Request{Body: message.Append(nil)}, h)
	}
	anonymous := with(ctx, nil)
	challenge := ""
	if anonymous.HTTP != nil && status(anonymous) == http.StatusUnauthorized {
		challenge = anonymous.HTTP.Header.Get("Www-Authenticate")
	}
	places := []string{wellKnown + strings.TrimSuffix(at.Path, "/"), wellKnown}
	document, place := v.metadataAt(ctx, places)
	bearer := strings.HasPrefix(strings.ToLower(challenge), "bearer")
	if !bearer && document == nil && !v.credentials() {
		for _, r := range v.rules.Rules {
			if r.Family == "auth" {
				v.enter(r.ID, inapplicable("the server asks for no token, and none was given"))
			}
		}
		return
	}
	v.tokens(ctx, with, status(anonymous) < 300)
	v.discovery(ctx, at, challenge, bearer, document, place)
	v.check(ctx, "auth-query-token", "", func(context.Context) outcome {
		return unverified("it would put the token into an address, which logs keep")
	})
}

// tokens sends requests with an invalid token and without one; public says that the server
// answers without.
func (v authRules) tokens(ctx context.Context, with func(ctx context.Context, authorization []string) *mcp.Exchange, public bool) {
	v.check(ctx, "auth-401", "", func(ctx context.Context) outcome {
		x := with(ctx, []string{"Bearer mcptest-invalid-token"})
		switch s := status(x); {
		case s == http.StatusUnauthorized:
			return held()
		case s == 0 || s == http.StatusTooManyRequests || s == http.StatusServiceUnavailable:
			return unverified("there was %s", answer(x))
		case s < 300 && public:
			return unverified("the server answers without a token, too")
		default:
			return broken(shown(x), "a request with an invalid token got the status %d, expected 401", s)
		}
	})
	v.check(ctx, "auth-anonymous", "", func(ctx context.Context) outcome {
		x := with(ctx, nil)
		switch s := status(x); {
		case s == http.StatusUnauthorized || s < 300 || s == http.StatusTooManyRequests || s == http.StatusServiceUnavailable:
			return held()
		default:
			return broken(shown(x), "a request without a token got the status %d, expected 401", s)
		}
	})
	v.check(ctx, "auth-challenge", "", func(ctx context.Context) outcome {
		x := with(ctx, nil)
		switch {
		case status(x) != http.StatusUnauthorized:
			return unverified("a request without a token got %s", answer(x))
		case x.HTTP.Header.Get("Www-Authenticate") == "":
			return broken(shown(x), "the 401 has no WWW-Authenticate")
		}
		return held()
	})
}

// metadataAt requests the metadata of the resource at places of the server.
func (v authRules) metadataAt(ctx context.Context, places []string) (found *mcp.Exchange, place string) {
	for _, place := range places {
		x := v.post(ctx, suite.Request{Method: http.MethodGet, Path: place}, http.Header{"Authorization": nil})
		if body, err := jsonv.Parse(x.Response); status(x) == http.StatusOK && err == nil && body.Kind() == jsonv.KindObject {
			return x, place
		}
	}
	return nil, ""
}

// discovery examines the metadata of the resource.
func (v authRules) discovery(ctx context.Context, at *url.URL, challenge string, bearer bool, document *mcp.Exchange, place string) {
	named := ""
	if m := resourceMetadata.FindStringSubmatch(challenge); m != nil {
		named = m[1]
	}
	v.check(ctx, "auth-discovery", "", func(context.Context) outcome {
		switch {
		case !bearer:
			return unverified("the server sent no challenge for a bearer token")
		case named != "" || document != nil && v.version.Name != "2025-06-18":
			return held()
		}
		return broken(verdict.Evidence{Sent: "a request without a token", Received: "WWW-Authenticate: " + challenge}, "the challenge has no resource_metadata, and %s has no document", wellKnown)
	})
	if u, err := url.Parse(named); named != "" && err == nil {
		if u.Host == at.Host {
			document, place = v.metadataAt(ctx, []string{u.RequestURI()})
			if document == nil {
				v.check(ctx, "auth-metadata", "", func(ctx context.Context) outcome {
					x := v.post(ctx, suite.Request{Method: http.MethodGet, Path: u.RequestURI()}, http.Header{"Authorization": nil})
					return broken(shown(x), "the metadata at %s got %s", named, answer(x))
				})
			}
		} else {
			v.enter("auth-metadata", unverified("the metadata is on another host: %s", u.Host))
		}
	}
	if document == nil {
		return
	}
	body, _ := jsonv.Parse(document.Response)
	v.check(ctx, "auth-metadata", "", func(context.Context) outcome {
		if body.Lookup("authorization_servers").Len() == 0 {
			return broken(shown(document), "the metadata names no authorization_servers")
		}
		return held()
	})
	v.check(ctx, "auth-metadata-resource", "", func(context.Context) outcome {
		u, err := url.Parse(body.Lookup("resource").Text())
		switch {
		case err != nil || u.Host == "":
			return broken(shown(document), "resource of the metadata is %s, expected the address of the server", body.Lookup("resource").OrNull().Short(80))
		case strings.EqualFold(u.Host, at.Host):
			return held()
		case web.IsLoopback(at.Hostname()):
			return unverified("the server is tested on this machine, its resource is %s", u.Host)
		}
		return broken(shown(document), "resource of the metadata at %s is %s, but the server is %s", place, u.Host, at.Host)
	})
	v.check(ctx, "auth-as-metadata", "", func(context.Context) outcome {
		return unverified("it would send a request to %s", strings.Join(body.Lookup("authorization_servers").Texts(), ", "))
	})
}
