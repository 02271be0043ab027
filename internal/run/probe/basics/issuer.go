package basics

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/web"
	"mcptest/internal/client/mcp"
	"mcptest/internal/run/boundary"
	"mcptest/internal/run/probe/exam"
	"mcptest/internal/spec/suite"
)

// checkIssuers examines the metadata of the authorization servers that are on this machine or at
// the server's own origin. One of them that works is enough: a client chooses.
func checkIssuers(ctx context.Context, v *exam.Visit, names []string) {
	const rule = "auth-as-metadata"
	var near []*url.URL
	for _, name := range names {
		u, err := url.Parse(name)
		if err == nil && u.Host != "" && (sameOrigin(u, v.At) || v.Local && web.IsLoopback(u.Hostname())) {
			near = append(near, u)
		}
	}
	if len(near) == 0 {
		v.State(ctx, rule, "", exam.Unverified("it would send a request to %s", strings.Join(names, ", ")))
		return
	}
	v.Check(ctx, rule, "", func(ctx context.Context) exam.Outcome {
		var o exam.Outcome
		for i, issuer := range near {
			judged := judgeIssuer(ctx, v, issuer)
			if i == 0 || !slices.Contains([]string{"fail", "not verified"}, string(judged.Verdict)) {
				o = judged
			}
		}
		return o
	})
}

// judgeIssuer judges the metadata of one authorization server. It may be at the place of RFC 8414
// or at those of OpenID Connect Discovery.
func judgeIssuer(ctx context.Context, v *exam.Visit, issuer *url.URL) exam.Outcome {
	path := strings.TrimSuffix(issuer.Path, "/")
	places := []string{"/.well-known/oauth-authorization-server" + path, "/.well-known/openid-configuration" + path, path + "/.well-known/openid-configuration"}
	var last *mcp.Exchange
	for _, place := range slices.Compact(places) {
		last = fetchElsewhere(ctx, v, issuer, place)
		body, err := jsonv.Parse(last.Response)
		if exam.Status(last) != http.StatusOK || err != nil || body.Kind() != jsonv.KindObject {
			continue
		}
		stated := body.Lookup("issuer").Text()
		switch {
		case strings.TrimSuffix(stated, "/") != strings.TrimSuffix(issuer.String(), "/"):
			return exam.Broken(last, "the metadata of the authorization server %s has the issuer %q", issuer, stated)
		case !slices.Contains(body.Lookup("code_challenge_methods_supported").Texts(), "S256"):
			return exam.Broken(last, "the metadata of the authorization server %s does not list S256 in code_challenge_methods_supported", issuer)
		}
		return exam.Held()
	}
	return exam.Broken(last, "the authorization server %s publishes no metadata", issuer)
}

// fetchElsewhere gets a document of another server, without the credentials of this one.
func fetchElsewhere(ctx context.Context, v *exam.Visit, at *url.URL, place string) *mcp.Exchange {
	ctx, cancel := mcp.WithLimit(ctx, "response", v.Reply)
	defer cancel()
	other := *v.Pinned
	other.URL, other.Headers, other.Auth = at.Scheme+"://"+at.Host, nil, nil
	_, x, _ := boundary.Env{
		Connect: v.Connect,
		Client:  v.Client,
	}.Request(ctx, &other, suite.Request{
		Method: http.MethodGet,
		Path:   place,
	})
	return x
}
