package apps_test

import (
	"slices"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/offer/apps"
)

// uri is that of the view in the tests.
const uri = "ui://shop/cart.html"

// plan describes a server with one view.
type plan struct {
	tool         string // _meta of the tool; "" is a link to the view
	tools        string // all tools, in place of that one
	bare         string // the tools of a client that does not declare the extension; "" are the same
	other        string // the tools of a client of 2026-07-28 that does; "" are the same
	listed       string // _meta of the resource in resources/list
	listedMime   string
	meta         string // _meta of the content
	mime         string // "" is right, "-" is none
	page         string // "" is a page without references
	content      string // the result of resources/read, in place of a page
	failure      string
	unknown      string
	capabilities string
	address      string
	resource     string // the URI in resources/list
}

const (
	older = "2025-11-25"
	newer = "2026-07-28"
)

func parse(t *testing.T, text string) jsonv.Value {
	t.Helper()
	v, err := jsonv.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// or returns the first text that is not empty.
func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// server builds what was read from a server.
func (p plan) server(t *testing.T) apps.Server {
	t.Helper()
	own := `[{"name": "cart", "_meta": ` + or(p.tool, `{"ui": {"resourceUri": "`+uri+`"}}`) + `}]`
	tools := or(p.tools, own)
	capabilities := parse(t, or(p.capabilities, `{"tools": {}, "resources": {}}`))
	resource := parse(t, `{"name": "cart", "mimeType": "`+or(p.listedMime, apps.MediaType)+`", "_meta": `+or(p.listed, "{}")+`}`)
	resource = resource.With("uri", jsonv.String(or(p.resource, uri)))
	s := apps.Server{Address: p.address}
	for _, revision := range []string{older, newer} {
		for _, declared := range []bool{false, true} {
			shown := tools
			if !declared {
				shown = or(p.bare, tools)
			} else if revision == newer {
				shown = or(p.other, tools)
			}
			s.Listings = append(s.Listings, apps.Listing{
				Revision:     revision,
				Declared:     declared,
				Tools:        parse(t, shown).List(),
				Resources:    []jsonv.Value{resource},
				Capabilities: capabilities,
			})
		}
		for _, view := range s.Views(revision) {
			s.Reads = append(s.Reads, apps.Read{
				Revision: revision, URI: view, Result: p.result(t), Failure: p.failure, Unknown: p.unknown,
			})
		}
	}
	return s
}

// result is what reading the view returns.
func (p plan) result(t *testing.T) jsonv.Value {
	t.Helper()
	if p.content != "" {
		return parse(t, p.content)
	}
	item := jsonv.ObjectOf("uri", uri, "text", or(p.page, "<!doctype html><title>Cart</title><p>Cart"))
	if p.mime != "-" {
		item = item.With("mimeType", jsonv.String(or(p.mime, apps.MediaType)))
	}
	if p.meta != "" {
		item = item.With("_meta", parse(t, p.meta))
	}
	return jsonv.ObjectOf("contents", jsonv.Array(item))
}

// html is a page with something in its head.
func html(head string) string { return "<!doctype html><head>" + head + "</head><body>" }

// csp is _meta of a view with a policy.
func csp(policy string) string { return `{"ui": {"csp": ` + policy + `}}` }

// planted are servers with one defect each.
var planted = []struct {
	rule  string
	level apps.Level
	plan
}{
	{"ui-resource-exists", apps.LevelError, plan{failure: "Resource not found (-32002)"}},
	{"ui-resource-exists", apps.LevelError, plan{failure: "Method not found (-32601)"}},
	{"ui-scheme", apps.LevelError, plan{tool: `{"ui": {"resourceUri": "https://shop.example/cart.html"}}`}},
	{"ui-scheme", apps.LevelError, plan{tool: `{"ui": {"resourceUri": "cart.html"}}`}},
	{"ui-scheme", apps.LevelError, plan{tool: `{"ui": {"resourceUri": "ui:/shop/cart.html"}}`}},
	{"ui-scheme", apps.LevelError, plan{tool: `{"ui": {"resourceUri": ["ui://shop/cart.html"]}}`}},
	{"ui-mime", apps.LevelError, plan{mime: "text/html"}},
	{"ui-mime", apps.LevelError, plan{mime: "text/html+skybridge"}},
	{"ui-mime", apps.LevelError, plan{mime: "-"}},
	{"ui-mime", apps.LevelError, plan{tool: "{}", mime: "text/html"}}, // it is listed as a view
	{"ui-mime", apps.LevelWarning, plan{mime: "text/html; profile=mcp-app"}},
	{"ui-mime", apps.LevelAdvice, plan{listedMime: "text/html"}},
	{"ui-content", apps.LevelError, plan{content: `{"contents": []}`}},
	{"ui-content", apps.LevelError, plan{content: `{}`}},
	{"ui-content", apps.LevelError, plan{content: `{"contents": [{"uri": "` + uri + `", "mimeType": "text/html;profile=mcp-app"}]}`}},
	{"ui-content", apps.LevelError, plan{content: `{"contents": [{"uri": "` + uri + `", "mimeType": "text/html;profile=mcp-app", "blob": "<html>!"}]}`}},
	{"ui-content", apps.LevelError, plan{content: `{"contents": [{"uri": "` + uri + `", "mimeType": "text/html;profile=mcp-app", "text": {"html": 1}}]}`}},
	{"ui-html", apps.LevelError, plan{page: "   \n"}},
	{"ui-html", apps.LevelError, plan{page: "Hello, world"}},
	{"ui-html", apps.LevelError, plan{page: `{"error": "not built"}`}},
	{"ui-html", apps.LevelWarning, plan{page: "<html><body>Hello"}},
	{"ui-capability", apps.LevelError, plan{capabilities: `{"tools": {}}`}},
	{"ui-csp-covers", apps.LevelError, plan{page: html(`<script src="https://cdn.example/x.js"></script>`)}},
	{"ui-csp-covers", apps.LevelError, plan{page: html(`<script src="//cdn.example/x.js"></script>`)}},
	{"ui-csp-covers", apps.LevelError, plan{page: html(`<link rel="preload stylesheet" href="https://cdn.example/x.css">`)}},
	{"ui-csp-covers", apps.LevelError, plan{page: html(`<link rel=modulepreload href=https://cdn.example/x.js>`)}},
	{"ui-csp-covers", apps.LevelError, plan{page: html(`<style>@import url(https://fonts.example/x.css);</style>`)}},
	{"ui-csp-covers", apps.LevelError, plan{page: html(`<style>/* x */ @import "https://fonts.example/x.css" layer(a);</style>`)}},
	{"ui-csp-covers", apps.LevelError, plan{page: html(`<iframe src="https://maps.example/embed"></iframe>`), meta: csp(`{"resourceDomains": ["https://maps.example"]}`)}},
	{"ui-csp-covers", apps.LevelError, plan{page: html(`<base href="https://cdn.example/app/">`)}},
	{"ui-csp-covers", apps.LevelWarning, plan{page: html(`<img src="https://img.example/x.png">`)}},
	{"ui-csp-covers", apps.LevelWarning, plan{page: html(`<style>@font-face {src: url("https://fonts.example/x.woff2")}</style>`)}},
	{"ui-csp-covers", apps.LevelWarning, plan{page: html(`<p style="background: url('https://img.example/x.png')">`)}},
	{"ui-csp-covers", apps.LevelError, plan{page: html(`<script src="https://cdn.example/x.js"></script>`), meta: csp(`{"resourceDomains": ["https://*.cdn.example"]}`)}},
	{"ui-csp-covers", apps.LevelError, plan{page: html(`<script src="https://a.cdn.example:8443/x.js"></script>`), meta: csp(`{"resourceDomains": ["https://*.cdn.example"]}`)}},
	{"ui-csp-covers", apps.LevelError, plan{page: html(`<script src="https://cdn.example/x.js"></script>`), meta: csp(`{}`), listed: csp(`{"resourceDomains": ["https://cdn.example"]}`)}},
	{"ui-csp-covers", apps.LevelAdvice, plan{page: html(`<base href="https://cdn.example/"><script src="x.js"></script>`), meta: csp(`{"baseUriDomains": ["https://cdn.example"]}`)}},
	{"ui-csp-covers", apps.LevelAdvice, plan{page: html(`<script>const r = await fetch("https://api.example/v1", {})</script>`)}},
	{"ui-csp-covers", apps.LevelAdvice, plan{page: html(`<script>x=a/b;new WebSocket( 'wss://live.example' )</script>`), meta: csp(`{"connectDomains": ["https://live.example"]}`)}},
	{"ui-csp-covers", apps.LevelAdvice, plan{page: html("<script>y=/[\"/]/g.test(z);window.fetch(`https://api.example`)</script>")}},
	{"ui-relative", apps.LevelError, plan{page: html(`<script type="module" crossorigin src="/assets/index-1a2b.js"></script>`)}},
	{"ui-relative", apps.LevelError, plan{page: html(`<LINK REL=Stylesheet HREF="./style.css">`)}},
	{"ui-relative", apps.LevelError, plan{page: html(`<base href="/app/"><script src="x.js"></script>`)}},
	{"ui-relative", apps.LevelError, plan{page: html(`<script src="%PUBLIC_URL%/main.js"></script>`)}},
	{"ui-relative", apps.LevelError, plan{page: html(`<script src="{{ASSETS}}/main.js"></script>`)}},
	{"ui-relative", apps.LevelWarning, plan{page: html(`<img srcset="logo.png 1x, logo-2.png 2x">`)}},
	{"ui-meta-shape", apps.LevelError, plan{meta: csp(`["https://cdn.example"]`)}},
	{"ui-meta-shape", apps.LevelWarning, plan{meta: csp(`null`)}},
	{"ui-meta-shape", apps.LevelWarning, plan{meta: csp(`{"connectDomains": null}`)}},
	{"ui-meta-shape", apps.LevelError, plan{meta: csp(`{"resourceDomains": "https://cdn.example"}`)}},
	{"ui-meta-shape", apps.LevelError, plan{listed: csp(`{"connectDomains": [{"url": "https://cdn.example"}]}`)}},
	{"ui-meta-shape", apps.LevelWarning, plan{meta: `{"ui": {"permissions": ["camera"]}}`}},
	{"ui-meta-shape", apps.LevelWarning, plan{meta: `{"ui": {"permissions": {"camera": true}}}`}},
	{"ui-meta-shape", apps.LevelWarning, plan{meta: `{"ui": {"prefersBorder": "yes"}}`}},
	{"ui-csp-origin", apps.LevelError, plan{meta: csp(`{"connectDomains": ["https://a.example https://b.example"]}`)}},
	{"ui-csp-origin", apps.LevelError, plan{meta: csp(`{"connectDomains": ["https://a.example; script-src *"]}`)}},
	{"ui-csp-origin", apps.LevelError, plan{meta: csp(`{"connectDomains": ["https://a.example,https://b.example"]}`)}},
	{"ui-csp-origin", apps.LevelError, plan{meta: csp(`{"connectDomains": ["\"https://a.example\""]}`)}},
	{"ui-csp-origin", apps.LevelWarning, plan{meta: csp(`{"connectDomains": ["*"]}`)}},
	{"ui-csp-origin", apps.LevelWarning, plan{meta: csp(`{"connectDomains": ["https:"]}`)}},
	{"ui-csp-origin", apps.LevelWarning, plan{meta: csp(`{"connectDomains": ["api.example"]}`)}},
	{"ui-csp-origin", apps.LevelWarning, plan{meta: csp(`{"connectDomains": ["http://api.example"]}`)}},
	{"ui-csp-origin", apps.LevelWarning, plan{meta: csp(`{"connectDomains": ["'self'"]}`)}},
	{"ui-csp-origin", apps.LevelWarning, plan{meta: csp(`{"connectDomains": ["https://api-*.example"]}`)}},
	{"ui-csp-origin", apps.LevelAdvice, plan{meta: csp(`{"connectDomains": ["https://api.example/v1/"]}`)}},
	{"ui-csp-origin", apps.LevelAdvice, plan{meta: csp(`{"resourceDomains": ["data:"]}`)}},
	{"ui-csp-key", apps.LevelWarning, plan{meta: csp(`{"connect_domains": ["https://api.example"]}`)}},
	{"ui-csp-key", apps.LevelWarning, plan{meta: csp(`{"resourceDomain": ["https://api.example"]}`)}},
	{"ui-csp-key", apps.LevelWarning, plan{listed: csp(`{"script-src": ["https://api.example"]}`)}},
	{"ui-tool-meta", apps.LevelWarning, plan{tool: `{"ui": {"resourceUri": "` + uri + `", "csp": {"connectDomains": ["https://api.example"]}}}`}},
	{"ui-tool-meta", apps.LevelWarning, plan{tool: `{"ui": {"resourceUri": "` + uri + `", "permissions": {"camera": {}}}}`, meta: csp(`{}`)}},
	{"ui-visibility", apps.LevelWarning, plan{tool: `{"ui": {"resourceUri": "` + uri + `", "visibility": "model"}}`}},
	{"ui-visibility", apps.LevelWarning, plan{tool: `{"ui": {"resourceUri": "` + uri + `", "visibility": []}}`}},
	{"ui-visibility", apps.LevelWarning, plan{tool: `{"ui": {"resourceUri": "` + uri + `", "visibility": ["model", "user"]}}`}},
	{"ui-unreachable", apps.LevelWarning, plan{tools: `[{"name": "poll", "_meta": {"ui": {"visibility": ["app"]}}}, {"name": "show"}]`}},
	{"ui-flat-key", apps.LevelWarning, plan{tool: `{"ui/resourceUri": "` + uri + `"}`}},
	{"ui-flat-key", apps.LevelWarning, plan{tool: `{"ui/resourceUri": "ui://shop/old.html", "ui": {"resourceUri": "` + uri + `"}}`}},
	{"ui-openai-only", apps.LevelWarning, plan{tool: `{"openai/outputTemplate": "` + uri + `"}`}},
	{"ui-openai-only", apps.LevelWarning, plan{tool: `{"openai/outputTemplate": "` + uri + `"}`, listedMime: "text/html+skybridge", mime: "text/html+skybridge"}},
	{"ui-era", apps.LevelWarning, plan{other: `[{"name": "cart"}]`}},
	{"ui-era", apps.LevelWarning, plan{other: `[{"name": "cart", "_meta": {"ui": {}}}]`}},
	{"ui-fallback-tool", apps.LevelWarning, plan{bare: `[]`}},
	{"ui-fallback-tool", apps.LevelAdvice, plan{bare: `[{"name": "cart_text"}]`}},
	{"ui-domain-claude", apps.LevelWarning, plan{address: "https://shop.example/mcp", meta: `{"ui": {"domain": "0123456789abcdef0123456789abcdef.claudemcpcontent.com"}}`}},
	{"ui-app-only-shown", apps.LevelAdvice, plan{tools: `[{"name": "cart", "_meta": {"ui": {"resourceUri": "` + uri + `"}}}, {"name": "poll", "_meta": {"ui": {"visibility": ["app"]}}}]`}},
}

func TestPlantedDefects(t *testing.T) {
	t.Parallel()
	rules := map[string]bool{}
	for _, c := range planted {
		rules[c.rule] = true
		found, _ := apps.Judge(c.server(t))
		worst := apps.LevelAdvice
		isFound := func(f apps.Finding) bool { return f.Rule == c.rule && f.Level == c.level }
		if !slices.ContainsFunc(found, isFound) {
			t.Errorf("%s (%s) is not found: %+v\nin %+v", c.rule, c.level, found, c.plan)
		}
		for _, f := range found {
			if f.Level == apps.LevelError {
				worst = apps.LevelError
			}
			if f.Message == "" || f.Fix == "" || strings.Contains(f.Message, "%!") {
				t.Errorf("incomplete: %+v", f)
			}
			if f.Rule != c.rule && f.Level == apps.LevelError {
				t.Errorf("%+v: also %+v", c.plan, f)
			}
		}
		if c.level != apps.LevelError && worst == apps.LevelError {
			t.Errorf("an error in %+v: %+v", c.plan, found)
		}
	}
	for _, r := range apps.Rules() {
		if !rules[r.ID] {
			t.Errorf("no server breaks %s", r.ID)
		}
	}
}

// odd are correct servers that look wrong.
var odd = map[string]plan{
	"both keys with one URI, as the SDK writes them": {tool: `{"ui": {"resourceUri": "` + uri + `"}, "ui/resourceUri": "` + uri + `"}`},
	"a scheme in capital letters":                    {tool: `{"ui": {"resourceUri": "UI://shop/cart.html"}}`},
	"null in place of a view":                        {tool: `{"ui": {"resourceUri": null}}`},
	"a view that is not listed":                      {resource: "file:///readme.md"},
	"a resource that no tool opens":                  {tool: `{}`, listedMime: "image/png", mime: "image/png", page: "png"},
	"empty contents that no tool opens":              {tool: `{}`, listedMime: "text/plain", content: `{"contents": []}`},
	"busy":                                           {unknown: "HTTP 503"},
	"several items, one of them the view": {content: `{"contents": [{"uri": "ui://shop/data.json", "mimeType": "application/json", "text": "{}"},
		{"uri": "` + uri + `", "mimeType": "text/html;profile=mcp-app", "text": "<!doctype html><p>x"}]}`},
	"both forms":                  {content: `{"contents": [{"uri": "` + uri + `", "mimeType": "text/html;profile=mcp-app", "text": "<!doctype html><p>x", "blob": "PCFkb2N0eXBlIGh0bWw+PHA+eA=="}]}`},
	"an empty text beside a blob": {content: `{"contents": [{"uri": "` + uri + `", "mimeType": "text/html;profile=mcp-app", "text": "", "blob": "PCFkb2N0eXBlIGh0bWw+PHA+eA=="}]}`},
	"forms for two hosts": {content: `{"contents": [{"uri": "` + uri + `", "mimeType": "text/html+skybridge", "text": "x"},
		{"uri": "` + uri + `", "mimeType": "text/html;profile=mcp-app", "text": "<!doctype html><p>x"}]}`},
	"a script for old browsers": {page: html(`<script nomodule src="/assets/polyfills-legacy.js"></script>`)},
	"a blob":                    {content: `{"contents": [{"uri": "` + uri + `", "mimeType": "text/html;profile=mcp-app", "blob": "PCFkb2N0eXBlIGh0bWw+PHA+eA=="}]}`},
	"optional tags":             {page: "<!DOCTYPE html>\n<title>x</title>\nHello"},
	"a comment in front":        {page: "\ufeff<!-- built by x -->\n<!doctype html><p>x"},
	"unknown members":           {meta: `{"ui": {"csp": {"workerDomains": ["https://w.example"], "connectDomains": []}, "theme": "dark"}}`},
	"a wildcard":                {page: html(`<script src="https://a.b.cdn.example/x.js"></script>`), meta: csp(`{"resourceDomains": ["https://*.cdn.example"]}`)},
	"the policy of a list":      {page: html(`<script src="https://cdn.example/x.js"></script>`), listed: csp(`{"resourceDomains": ["https://cdn.example"]}`)},
	"the policy of the content decides": {
		page: html(`<script src="https://cdn.example/x.js"></script>`),
		meta: csp(`{"resourceDomains": ["https://CDN.example:443/"]}`), listed: csp(`{}`),
	},
	"a base": {
		page: html(`<base href="https://cdn.example/app/"><script src="x.js"></script><img src="x.png">`),
		meta: csp(`{"resourceDomains": ["https://cdn.example"], "baseUriDomains": ["https://cdn.example"]}`),
	},
	"what nothing loads": {page: html(`<!-- <script src="https://a.example/x.js"></script> -->
		<template><img src="https://a.example/x.png"><script src="x.js"></script></template>
		<noscript><img src="https://a.example/x.png"></noscript>
		<a href="https://a.example">x</a> <link rel=canonical href="https://a.example"> <link rel=preconnect href="https://a.example">
		<link rel="dns-prefetch" href="//a.example"><link rel=icon href="https://a.example/favicon.ico">
		<script type="application/ld+json" src="https://a.example/x.js">{"@context": "https://schema.org"}</script>
		<svg xmlns="http://www.w3.org/2000/svg"><use href="#x"/></svg>
		<script>const s = '<script src="https://a.example/x.js"><' + '/script>'; const t = "<img src='x.png'>"</script>
		<textarea><script src="https://a.example/x.js"></script></textarea>
		<iframe srcdoc="<p>x" src="https://a.example"></iframe>
		<style>@namespace url(http://www.w3.org/1999/xhtml); /* @import "https://a.example/x.css"; */ p::after {content: "url(https://a.example)"}</style>`)},
	"calls that connect nowhere else": {page: html(`<script>
		// fetch("https://a.example")
		/* fetch("https://a.example") */
		const help = "call fetch(\"https://a.example\")", more = 'fetch("https://a.example")', page = ` + "`fetch(\"https://a.example\")`" + `
		cache.fetch("https://a.example"); prefetch("https://a.example"); fetch(base + "https://a.example"); fetch("/api"); fetch("data:,x")
		const pattern = /fetch("https:\/\/a.example")/, half = (1 + 2) / 2
		fetch("https://ok.example/x"); new WebSocket("wss://ok.example")</script>
		<script type="text/plain">fetch("https://a.example")</script><template><script>fetch("https://a.example")</script></template>`), meta: csp(`{"connectDomains": ["https://ok.example", "wss://ok.example"]}`)},
	"data in the page": {page: html(`<script src="data:text/javascript,1"></script><img src="data:image/png;base64,AAAA">
		<style>@font-face {src: url(data:font/woff2;base64,AAAA)} p {fill: url(#gradient)}</style><iframe src="about:blank"></iframe><iframe src=""></iframe>`)},
	"loopback":                      {meta: csp(`{"connectDomains": ["http://localhost:3000", "ws://127.0.0.1:8080", "http://[::1]:80", "wss://api.example"]}`)},
	"csp on the tool and resource":  {tool: `{"ui": {"resourceUri": "` + uri + `", "csp": {"connectDomains": ["https://a.example"]}}}`, meta: csp(`{"connectDomains": ["https://a.example"]}`)},
	"for model and app":             {tool: `{"ui": {"resourceUri": "` + uri + `", "visibility": ["app", "model"]}}`},
	"an OpenAI template and a view": {tool: `{"openai/outputTemplate": "ui://widget/x.html", "ui": {"resourceUri": "` + uri + `"}}`},
	"domains of other hosts":        {address: "https://shop.example/mcp", meta: `{"ui": {"domain": "shop.oaiusercontent.com"}}`},
	"a domain of Claude over stdio": {meta: `{"ui": {"domain": "0123456789abcdef0123456789abcdef.claudemcpcontent.com"}}`},
	"no capabilities, no views":     {tools: `[{"name": "cart"}]`, capabilities: `{}`},
}

func TestCorrectOddServers(t *testing.T) {
	t.Parallel()
	for name, p := range odd {
		if found, _ := apps.Judge(p.server(t)); len(found) > 0 {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	_, notes := apps.Judge(plan{unknown: "HTTP 503"}.server(t))
	if len(notes) != 2 || !strings.Contains(notes[0], "HTTP 503") || !strings.Contains(notes[0], older) {
		t.Errorf("got %q", notes)
	}
}

// Only the revision that fails is named, and a URI that is nearly the right one.
func TestFailuresNameTheirRevision(t *testing.T) {
	t.Parallel()
	s := plan{failure: "not found", resource: "ui://shop/Cart.html/"}.server(t)
	found, _ := apps.Judge(s)
	if len(found) != 1 || strings.Contains(found[0].Message, newer) || !strings.Contains(found[0].Message, "ui://shop/Cart.html/") {
		t.Fatalf("got %+v", found)
	}
	for i := range s.Reads {
		if s.Reads[i].Revision == older {
			s.Reads[i].Failure, s.Reads[i].Result = "", plan{}.result(t)
		}
	}
	found, _ = apps.Judge(s)
	if len(found) != 1 || !strings.Contains(found[0].Message, "in "+newer) || found[0].Tool != "cart" {
		t.Errorf("got %+v", found)
	}
}

func TestDomainOfClaude(t *testing.T) {
	t.Parallel()
	const address, right = "https://shop.example/mcp", "77fd02a4e5ba3aca2b01ef8e4d4b5d1c"
	judge := func(domain string) []apps.Finding {
		found, _ := apps.Judge(plan{address: address, meta: `{"ui": {"domain": "` + domain + `"}}`}.server(t))
		return found
	}
	wrong := judge("x.claudemcpcontent.com")
	if len(wrong) != 1 || !strings.Contains(wrong[0].Fix, ".claudemcpcontent.com") {
		t.Fatalf("got %+v", wrong)
	}
	_, want, _ := strings.Cut(wrong[0].Fix, "use ")
	if found := judge(want); len(found) > 0 || len(want) != len(right)+len(".claudemcpcontent.com") {
		t.Errorf("%s: %+v", want, found)
	}
}

func TestTextFallback(t *testing.T) {
	t.Parallel()
	const tool = `{"name": "cart", "_meta": {"ui": {"resourceUri": "ui://x"}}}`
	for _, c := range []struct {
		tool, result string
		wrong        bool
	}{
		{tool, `{"content": []}`, true},
		{tool, `{"structuredContent": {"a": 1}}`, true},
		{tool, `{"content": [{"type": "text", "text": " \n"}, {"type": "text", "text": ""}]}`, true},
		{tool, `{"content": [{"type": "text", "text": "1 item"}]}`, false},
		{tool, `{"content": [{"type": "text", "text": ""}, {"type": "image", "data": "", "mimeType": "image/png"}]}`, false},
		{tool, `{"content": [{"type": "resource_link", "uri": "file:///x", "name": "x"}]}`, false},
		{tool, `{"content": [], "isError": true}`, false},
		{`{"name": "cart"}`, `{"content": []}`, false},
		{`{"name": "cart", "_meta": {"ui": {"resourceUri": "ui://x", "visibility": ["app"]}}}`, `{"content": []}`, false},
	} {
		got := apps.TextFallback(parse(t, c.tool), parse(t, c.result))
		if (got != "") != c.wrong {
			t.Errorf("%s %s: %q", c.tool, c.result, got)
		}
	}
}

// Whatever a server sends, the findings stay few and the time short.
func TestHostileServers(t *testing.T) {
	t.Parallel()
	entries := strings.Repeat(`"https://a b.example", `, 1000)
	var many strings.Builder
	for i := range 30000 {
		many.WriteString(`"https://h` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + `.example/` + strings.Repeat("y", i%11) + `", `)
	}
	for name, p := range map[string]plan{
		"deep nesting":           {page: html(strings.Repeat("<div>", 1<<18))},
		"formatting":             {page: html(strings.Repeat("<b><i><a>", 1<<17))},
		"10 MB of text":          {page: strings.Repeat("x", 10<<20)},
		"many attributes":        {page: html("<p " + strings.Repeat("a1=2 ", 1<<18) + ">")},
		"a long attribute":       {page: html(`<img src="` + strings.Repeat("x", 4<<20) + `">`)},
		"only <":                 {page: strings.Repeat("<", 1<<20)},
		"many references":        {page: html(strings.Repeat(`<img src="https://a.example/x.png">`, 30000))},
		"styles without an end":  {page: html("<style>" + strings.Repeat("{@import url(", 50000))},
		"scripts without an end": {page: html("<script>" + strings.Repeat("fetch( /x", 1<<15) + strings.Repeat("/*`\"", 1<<18))},
		"comments in styles":     {page: html("<style>" + strings.Repeat("/*", 1<<20))},
		"a long srcset":          {page: html(`<img srcset="` + strings.Repeat("a, ", 1<<18) + `">`)},
		"not UTF-8":              {page: "<!doctype html>\xff\xfe<script src=\"\xff.js\"></script>"},
		"UTF-16":                 {page: "\xff\xfe<\x00h\x00"},
		"many wrong entries":     {meta: csp(`{"connectDomains": [` + entries + `"x"]}`)},
		"many entries":           {page: html(strings.Repeat(`<script src="https://b.example/x.js"></script>`, 20000)), meta: csp(`{"resourceDomains": [` + many.String() + `"x"]}`)},
		"a host of dots":         {page: html(`<script src="https://` + strings.Repeat("a.", 4000) + `"></script>`)},
	} {
		found, _ := apps.Judge(p.server(t))
		if len(found) > 20 {
			t.Errorf("%s: %d findings", name, len(found))
		}
		for _, f := range found {
			if len(f.Message)+len(f.Fix)+len(f.Subject) > 2000 {
				t.Errorf("%s: a long finding: %s", name, f.Rule)
			}
		}
	}
}

func FuzzJudge(f *testing.F) {
	for _, c := range planted {
		f.Add(c.page, c.meta)
	}
	for _, p := range odd {
		f.Add(p.page, p.meta)
	}
	f.Fuzz(func(t *testing.T, page, meta string) {
		p := plan{page: page}
		if _, err := jsonv.Parse([]byte(meta)); err == nil {
			p.meta = meta
		}
		s := p.server(t)
		first, _ := apps.Judge(s)
		second, _ := apps.Judge(s)
		if !slices.Equal(first, second) {
			t.Errorf("%v\n%v", first, second)
		}
	})
}
