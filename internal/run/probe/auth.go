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

// noToken are the headers of a request without credentials.
func noToken() http.Header { return http.Header{"Authorization": nil} }

// authorization examines a server that asks for a bearer token, publishes metadata, or gets
// credentials.
func authorization(ctx context.Context, v *visit) {
	if v.stdio() || v.hello.HTTP == nil {
		return
	}
	at, err := url.Parse(v.pinned.URL)
	if err != nil {
		return
	}
	message := v.frame(7301, v.firstList(), jsonv.Value{})
	anonymous := v.tell(ctx, message, noToken())
	challenge := ""
	if status(anonymous) == http.StatusUnauthorized {
		challenge = anonymous.HTTP.Header.Get("Www-Authenticate")
	}
	document, place := metadataAt(ctx, v, wellKnown+strings.TrimSuffix(at.Path, "/"), wellKnown)
	bearer := strings.HasPrefix(strings.ToLower(challenge), "bearer")
	if !bearer && document == nil && !credentials(v) {
		v.enterAll("auth", inapplicable("the server asks for no token, and none was given"))
		return
	}
	tokens(ctx, v, message, status(anonymous) < 300)
	named := ""
	if m := resourceMetadata.FindStringSubmatch(challenge); m != nil {
		named = m[1]
	}
	discovery := held()
	switch {
	case !bearer:
		discovery = unverified("the server sent no challenge for a bearer token")
	case named == "" && (document == nil || v.version.Name == "2025-06-18"):
		evidence := verdict.Evidence{Sent: "a request without a token", Received: "WWW-Authenticate: " + challenge}
		discovery = brokenBy(evidence, "the challenge has no resource_metadata, and %s has no document", wellKnown)
	}
	v.state(ctx, "auth-discovery", "", discovery)
	if u, err := url.Parse(named); named != "" && err == nil && u.Host == at.Host {
		if document, place = metadataAt(ctx, v, u.RequestURI()); document == nil {
			v.check(ctx, "auth-metadata", "", func(ctx context.Context) outcome {
				x := v.post(ctx, suite.Request{Method: http.MethodGet, Path: u.RequestURI()}, noToken())
				return broken(x, "the metadata at %s got %s", named, answer(x))
			})
		}
	} else if named != "" && err == nil {
		v.enter(unverified("the metadata is on another host: %s", u.Host), "auth-metadata")
	}
	if document != nil {
		published(ctx, v, at, document, place)
	}
	v.state(ctx, "auth-query-token", "", unverified("it would put the token into an address, which logs keep"))
}

// tokens sends requests with an invalid token and without one; public says that the server
// answers without.
func tokens(ctx context.Context, v *visit, message jsonv.Value, public bool) {
	v.check(ctx, "auth-401", "", func(ctx context.Context) outcome {
		x := v.tell(ctx, message, http.Header{"Authorization": {"Bearer mcptest-invalid-token"}})
		switch s := status(x); {
		case s == 0 || s == http.StatusTooManyRequests || s == http.StatusServiceUnavailable:
			return unverified("there was %s", answer(x))
		case s < 300 && public:
			return unverified("the server answers without a token, too")
		}
		return expectStatus(x, http.StatusUnauthorized, "a request with an invalid token")
	})
	v.check(ctx, "auth-anonymous", "", func(ctx context.Context) outcome {
		x := v.tell(ctx, message, noToken())
		if s := status(x); s < 300 || s == http.StatusTooManyRequests || s == http.StatusServiceUnavailable {
			return held()
		}
		return expectStatus(x, http.StatusUnauthorized, "a request without a token")
	})
	v.check(ctx, "auth-challenge", "", func(ctx context.Context) outcome {
		x := v.tell(ctx, message, noToken())
		if status(x) != http.StatusUnauthorized {
			return unverified("a request without a token got %s", answer(x))
		}
		return brokenIf(x.HTTP.Header.Get("Www-Authenticate") == "", x, "the 401 has no WWW-Authenticate")
	})
}

// metadataAt requests the metadata of the resource at places of the server.
func metadataAt(ctx context.Context, v *visit, places ...string) (found *mcp.Exchange, place string) {
	for _, place := range places {
		x := v.post(ctx, suite.Request{Method: http.MethodGet, Path: place}, noToken())
		if body, err := jsonv.Parse(x.Response); status(x) == http.StatusOK && err == nil && body.Kind() == jsonv.KindObject {
			return x, place
		}
	}
	return nil, ""
}

// published examines the metadata of the resource.
func published(ctx context.Context, v *visit, at *url.URL, document *mcp.Exchange, place string) {
	body, _ := jsonv.Parse(document.Response)
	servers := body.Lookup("authorization_servers")
	v.state(ctx, "auth-metadata", "", brokenIf(servers.Len() == 0, document, "the metadata names no authorization_servers"))
	resource := held()
	switch u, err := url.Parse(body.Lookup("resource").Text()); {
	case err != nil || u.Host == "":
		resource = broken(document, "resource of the metadata is %s, expected the address of the server", body.Lookup("resource").OrNull().Short(80))
	case strings.EqualFold(u.Host, at.Host):
	case web.IsLoopback(at.Hostname()):
		resource = unverified("the server is tested on this machine, its resource is %s", u.Host)
	default:
		resource = broken(document, "resource of the metadata at %s is %s, but the server is %s", place, u.Host, at.Host)
	}
	v.state(ctx, "auth-metadata-resource", "", resource)
	v.state(ctx, "auth-as-metadata", "", unverified("it would send a request to %s", strings.Join(servers.Texts(), ", ")))
}
