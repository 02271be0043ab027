package probe

import (
	"context"
	"encoding/base64"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/probe/verdict"
)

// maxReads is the number of resources that are read.
const maxReads = 20

// resourceRules examines the rules of the family resources.
type resourceRules struct{ *visit }

// resourcesFamily examines resources and their templates.
func (v resourceRules) resourcesFamily(ctx context.Context) {
	if !v.declares("resources") {
		return
	}
	for i, def := range v.resources {
		uri := def.Lookup("uri").Text()
		name := "resource " + uri
		v.check(ctx, "resource-uri-syntax", name, func(context.Context) outcome {
			if u, err := url.Parse(uri); err != nil || u.Scheme == "" {
				return broken(verdict.Evidence{Sent: "resources/list", Received: verdict.Excerpt(def.String(), 1000)}, "the URI is not an absolute URI")
			}
			return held()
		})
		if i < maxReads && ctx.Err() == nil {
			v.content(ctx, name, uri)
		}
	}
	v.missing(ctx)
	for _, t := range v.templates {
		v.traversal(ctx, t.Lookup("uriTemplate").Text())
	}
}

func (v resourceRules) fetch(ctx context.Context, uri string) *mcp.Exchange {
	return v.do(ctx, "resources/read", jsonv.ObjectOf("uri", uri))
}

// content reads a listed resource.
func (v resourceRules) content(ctx context.Context, name, uri string) {
	x := v.fetch(ctx, uri)
	if !strings.HasPrefix(uri, "https:") { // clients load these by themselves
		v.check(ctx, "resource-listed-readable", name, func(context.Context) outcome {
			if x.Result == nil && !refusesAll(status(x)) {
				return broken(shown(x), "the resource is listed, but reading it got %s", answer(x))
			}
			return held()
		})
	}
	if x.Result == nil || another(x) {
		return
	}
	contents := func(rule string, wrong func(c jsonv.Value) string) {
		examine(ctx, v.visit, rule, name, x, func(ctx context.Context) *mcp.Exchange { return v.fetch(ctx, uri) }, "contents", wrong)
	}
	contents("resource-uri", func(c jsonv.Value) string {
		if c.Lookup("uri").Kind() != jsonv.KindString {
			return "a content has no uri"
		}
		return ""
	})
	contents("resource-body", func(c jsonv.Value) string {
		if c.Lookup("text").IsAbsent() && c.Lookup("blob").IsAbsent() {
			return "a content has neither text nor blob"
		}
		return ""
	})
	contents("resource-base64", func(c jsonv.Value) string {
		if _, err := base64.StdEncoding.DecodeString(c.Lookup("blob").Text()); err != nil {
			return "the blob is not base64: " + err.Error()
		}
		return ""
	})
}

// missing reads a sibling of a listed URI that does not exist.
func (v resourceRules) missing(ctx context.Context) {
	for _, def := range v.resources {
		uri := def.Lookup("uri").Text() + "-mcptest-no-such-resource"
		if strings.HasPrefix(uri, "https:") || strings.HasPrefix(uri, "http:") || slices.ContainsFunc(v.templates, func(t jsonv.Value) bool {
			return surface.TemplatePattern(t.Lookup("uriTemplate").Text()).MatchString(uri)
		}) {
			continue // it may exist
		}
		codes := []int64{protocol.CodeInvalidParams}
		if !v.modern() {
			codes = []int64{-32002, protocol.CodeInvalidParams}
		}
		v.check(ctx, "resource-missing", "", func(ctx context.Context) outcome {
			x := v.fetch(ctx, uri)
			if x.Result != nil && result(x).Lookup("contents").Len() == 0 && !another(x) && v.modern() {
				return unverified("see resource-missing-empty")
			}
			return v.expectCode(ctx, "resources/read", jsonv.ObjectOf("uri", uri), codes...)
		})
		v.check(ctx, "resource-missing-empty", "", func(ctx context.Context) outcome {
			x := v.fetch(ctx, uri)
			if contents := result(x).Lookup("contents"); contents.Kind() == jsonv.KindArray && contents.Len() == 0 {
				return broken(shown(x), "reading a resource that does not exist got empty contents")
			}
			return held()
		})
		return
	}
	for _, rule := range []string{"resource-missing", "resource-missing-empty"} {
		v.enter(rule, unverified("no URI is known that certainly does not exist"))
	}
}

var expression = regexp.MustCompile(`\{[^}]*\}`)

// traversal reads a file that the probe made through a template of file: URIs.
func (v resourceRules) traversal(ctx context.Context, template string) {
	if !strings.HasPrefix(template, "file:") || strings.Count(template, "{") != 1 || !v.local {
		return
	}
	v.check(ctx, "resource-traversal", template, func(ctx context.Context) outcome {
		dir, err := os.MkdirTemp("", "mcptest-probe-")
		if err != nil {
			return unverified("%v", err)
		}
		defer os.RemoveAll(dir)
		const secret = "mcptest-probe-file"
		file := filepath.Join(dir, "secret.txt")
		if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
			return unverified("%v", err)
		}
		read := func(path string) *mcp.Exchange {
			return v.fetch(ctx, expression.ReplaceAllLiteralString(template, path))
		}
		below := filepath.ToSlash(strings.TrimPrefix(file, string(filepath.Separator)))
		if plain := read(below); strings.Contains(string(plain.Result), secret) {
			return inapplicable("the template gives every file")
		}
		for _, up := range []string{strings.Repeat("../", 12), strings.Repeat("..%2F", 12), strings.Repeat("%2e%2e/", 12)} {
			if x := read(up + below); strings.Contains(string(x.Result), secret) {
				return broken(shown(x), "a path with .. gave a file outside of the template")
			}
		}
		return held()
	})
}
