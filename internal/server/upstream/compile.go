package upstream

import (
	"cmp"
	"encoding/base64"
	"mime"
	"net/http"
	"net/textproto"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/source"
)

// Upstream is a compiled entry of `upstreams:`.
type Upstream struct {
	Name      string
	Pos       source.Pos
	StandsFor *url.URL
	Into      Into
	Template  []byte // the contents of Into.File
	Routes    []*Route
	Recording string // absolute; "" if there is none
	// Allowed is set if an unmatched request fails no test.
	Allowed bool
	Proxy   bool // requests come through a proxy
	Isolate bool // the server has no other network
	// Settle is how long late requests of a test are waited for.
	Settle time.Duration
}

// Options configure the compilation of a declaration.
type Options struct {
	Dir          string            // of the suite
	AllowOutside bool              // files may be outside of it
	Opened       func(path string) // is called with each file that is read; may be nil
}

// isAddressOfAPI reports whether an address is that of an origin, or of a folder below it.
func isAddressOfAPI(u *url.URL) bool {
	isHTTP := u.Scheme == "http" || u.Scheme == "https"
	return isHTTP && u.Hostname() != "" && u.RawQuery == "" && u.Fragment == ""
}

const defaultSettle = 100 * time.Millisecond

// Compile compiles a declaration to an upstream. Mistakes are reported to dec.
func Compile(name string, decl *Declaration, o Options, dec *source.Decoder) *Upstream {
	path := source.PathKey("upstreams", name)
	c := &compiler{Options: o, dec: dec}
	u := &Upstream{Name: name, Pos: decl.Pos, Allowed: decl.Unmatched.Allowed, Proxy: decl.Via == "proxy", Isolate: decl.Isolate != ""}
	address, err := url.Parse(decl.StandsFor)
	if err != nil || !isAddressOfAPI(address) {
		if decl.StandsFor != "" {
			c.report(decl.Pos, path+".stands_for", "expected the address of an API, got "+strconv.Quote(decl.StandsFor), "such as https://api.example.com")
		}
		address = &url.URL{Scheme: "https", Host: "example.invalid"}
	}
	u.StandsFor = address
	u.Settle = defaultSettle
	if decl.Settle != nil {
		u.Settle = max(*decl.Settle, 0)
	}
	c.into(u, decl, path)
	if decl.Recording != "" {
		if abs, ok := c.locate(decl.Recording, decl.Pos, path+".recording"); ok {
			u.Recording = abs
		}
	}
	u.Routes = c.routes(decl.Routes, path+".routes")
	return u
}

// CompileRoutes compiles the routes that a test adds to an upstream.
func CompileRoutes(list []*RouteDecl, path string, o Options, dec *source.Decoder) []*Route {
	return (&compiler{Options: o, dec: dec}).routes(list, path)
}

type compiler struct {
	Options
	dec *source.Decoder
}

func (c *compiler) report(pos source.Pos, path, msg, hint string) {
	c.dec.Add(source.Diagnostic{Pos: pos, Path: path, Msg: msg, Hint: hint, Code: "upstream"})
}

// into checks how a server receives the address.
func (c *compiler) into(u *Upstream, decl *Declaration, path string) {
	into := decl.Into
	switch {
	case into == nil && !u.Proxy:
		c.report(decl.Pos, path, "no server receives the address of the double", "add into: {env: NAME}, or via: proxy")
		return
	case into == nil:
		return
	case u.Proxy:
		c.report(into.Pos, path+".into", "into: and via: proxy exclude each other", "a proxy needs no address")
	case into.Env == "" && into.Arg == "" && into.Header == "":
		c.report(into.Pos, path+".into", "expected env, arg or header: where the server reads the address", "")
	case strings.ContainsAny(into.Env, "= \x00"):
		c.report(into.Pos, path+".into.env", strconv.Quote(into.Env)+" can't be the name of an environment variable", "")
	case into.File != "" && into.Value != "":
		c.report(into.Pos, path+".into", "file: and value: exclude each other", "the value is the path of the copy")
	}
	u.Into = *into
	if into.File != "" {
		u.Template = c.read(into.File, into.Pos, path+".into.file")
	}
}

func (c *compiler) routes(list []*RouteDecl, path string) []*Route {
	var out []*Route
	for i, decl := range list {
		at := source.PathIndex(path, i)
		if decl == nil {
			continue
		}
		r := c.route(decl, at)
		if r == nil {
			continue
		}
		for _, earlier := range out {
			if earlier.times > 0 || !earlier.covers(r) {
				continue
			}
			d := source.Diagnostic{
				Pos: decl.Pos, Path: at, Code: "upstream", Msg: "this route can never match: " + earlier.String() + " matches all its requests",
				Hint: "put it before that route", Related: []source.Related{{Pos: earlier.Pos, Msg: "the earlier route"}},
			}
			if r.covers(earlier) {
				d.Msg, d.Hint = "two routes match the same requests", "remove one of them, or add times: to the first"
			}
			c.dec.Add(d)
			break
		}
		out = append(out, r)
	}
	return out
}

// methods are the registered methods of HTTP that programs use, and PURGE.
var methods = strings.Fields("GET HEAD POST PUT PATCH DELETE OPTIONS TRACE CONNECT QUERY PURGE LINK UNLINK " +
	"ACL COPY LOCK MKCALENDAR MKCOL MOVE PROPFIND PROPPATCH REPORT SEARCH UNLOCK")

// route compiles one route; it returns nil if the route is empty.
func (c *compiler) route(decl *RouteDecl, at string) *Route {
	m := decl.Match
	if m == nil || m.Path == "" {
		return nil // reported as a missing key
	}
	r := &Route{Pos: decl.Pos, Path: at, method: strings.ToUpper(m.Method)}
	if r.method != "" && !slices.Contains(methods, r.method) {
		hint := cmp.Or(source.DidYouMean(r.method, methods), "such as GET or POST")
		c.report(m.Pos, at+".match.method", strconv.Quote(m.Method)+" is not an HTTP method", hint)
	}
	var problem, hint string
	if r.path, problem, hint = parsePath(m.Path); problem != "" {
		c.report(m.Pos, at+".match.path", problem, hint)
	}
	for _, e := range m.Query.Entries {
		r.query = append(r.query, c.parameter(e, at+".match.query"))
	}
	for _, e := range m.Headers.Entries {
		r.headers = append(r.headers, condition{name: textproto.CanonicalMIMEHeaderKey(e.Key), values: []string{string(e.Value)}})
	}
	if m.Body != nil {
		r.body = m.Body.JSON()
	}
	if decl.Times != nil {
		if r.times = *decl.Times; r.times < 1 {
			c.report(decl.Pos, at+".times", "must be greater than zero", "")
		}
	}
	list := decl.Reply
	if len(list) == 0 {
		list = Replies{{Pos: decl.Pos}}
	}
	for i, reply := range list {
		path := at + ".reply"
		if len(list) > 1 {
			path = source.PathIndex(path, i)
		}
		if reply != nil {
			r.replies = append(r.replies, c.reply(reply, r, path))
		}
	}
	return r
}

// parameter compiles the condition of a route on one parameter of the query.
func (c *compiler) parameter(e source.Entry[*source.Node], path string) condition {
	out := condition{name: e.Key}
	switch {
	case e.Value == nil || e.Value.Kind == source.KindNull:
		out.absent = true
	case e.Value.Kind == source.KindList:
		for _, item := range e.Value.Items {
			if !item.IsScalar() {
				c.dec.ReportWrongType(item, source.PathKey(path, e.Key), "text")
			}
			out.values = append(out.values, item.Spelling())
		}
	case e.Value.IsScalar():
		out.values = []string{e.Value.Spelling()}
	default:
		c.dec.ReportWrongType(e.Value, source.PathKey(path, e.Key), "text, a list of texts, or null")
	}
	return out
}

// reply compiles one response of a route.
func (c *compiler) reply(decl *ReplyDecl, r *Route, path string) *reply {
	out := &reply{status: http.StatusOK}
	if decl.Status != nil {
		if out.status = *decl.Status; out.status < 200 || out.status > 599 {
			c.report(decl.Pos, path+".status", "expected a status from 200 to 599, got "+strconv.Itoa(out.status), "")
			out.status = http.StatusOK
		}
	}
	for _, e := range decl.Headers.Entries {
		isForbidden := func(r rune) bool {
			return r <= ' ' || r > '~' || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
		}
		if e.Key == "" || strings.ContainsFunc(e.Key, isForbidden) {
			c.report(e.Pos, source.PathKey(path+".headers", e.Key), strconv.Quote(e.Key)+" can't be the name of a header", "")
			continue
		}
		value := c.template(string(e.Value), r, e.Pos, source.PathKey(path+".headers", e.Key))
		out.headers = append(out.headers, header{e.Key, value})
	}
	c.content(out, decl, r, path)
	c.delivery(out, decl, path)
	return out
}

// template compiles a text, whose variables must be known.
func (c *compiler) template(text string, r *Route, pos source.Pos, path string) template {
	t, bad := parseTemplate(text)
	if bad != "" {
		c.report(pos, path, "{{"+bad+"}} is not a value of a request", "use {{path.NAME}}, {{query.NAME}}, {{header.NAME}}, {{body.NAME}} and {{method}}")
		return t
	}
	for i := 1; i < len(t); i += 2 {
		root, name, _ := strings.Cut(t[i], ".")
		switch {
		case root == "path" && !r.path.has(name):
			c.report(pos, path, "the path of the route has no variable {"+name+"}", "it is "+r.path.text)
		case root == "query" && slices.ContainsFunc(r.query, func(q condition) bool { return q.absent && q.name == name }),
			root == "body" && !r.body.IsAbsent() && member(r.body, name).IsAbsent():
			c.report(pos, path, "the route is for requests without {{"+t[i]+"}}", "")
		}
	}
	return t
}

// content compiles the body of a response.
func (c *compiler) content(out *reply, decl *ReplyDecl, r *Route, path string) {
	var has []string
	use := func(key string, is bool) bool {
		if is {
			has = append(has, key+":")
		}
		return is
	}
	if use("json", decl.JSON != nil) {
		c.json(out, decl.JSON, r, path+".json")
	}
	if use("text", decl.Text != nil) {
		out.kind = "text/plain; charset=utf-8"
		if t := c.template(string(*decl.Text), r, decl.Pos, path+".text"); t.isFixed() {
			out.body = []byte(*decl.Text)
		} else {
			out.text = t
		}
	}
	if use("file", decl.File != "") {
		out.body = c.read(decl.File, decl.Pos, path+".file")
		out.kind = cmp.Or(mime.TypeByExtension(filepath.Ext(decl.File)), "application/octet-stream")
	}
	if use("base64", decl.Base64 != "") {
		var err error
		if out.body, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(decl.Base64), "")); err != nil {
			c.report(decl.Pos, path+".base64", "it is not base64: "+err.Error(), "")
		}
		out.kind = "application/octet-stream"
	}
	if use("chunks", decl.Chunks != nil) {
		out.kind = "text/plain; charset=utf-8"
		for i, chunk := range decl.Chunks {
			out.chunks = append(out.chunks, c.template(string(chunk), r, decl.Pos, source.PathIndex(path+".chunks", i)))
		}
	}
	if use("sse", decl.SSE != nil) {
		out.kind = "text/event-stream"
		for i, e := range decl.SSE {
			if e != nil {
				out.chunks = append(out.chunks, c.template(e.text(), r, e.Pos, source.PathIndex(path+".sse", i)))
			}
		}
	}
	if len(has) > 1 {
		c.report(decl.Pos, path, "has "+strings.Join(has, " and ")+"; expected one body", "")
	}
}

// json compiles a body that is written as a value.
func (c *compiler) json(out *reply, n *source.Node, r *Route, path string) {
	out.kind = "application/json"
	fixed := true
	n.MapScalars(func(sc *source.Node) *source.Node {
		if sc.Kind == source.KindString && !c.template(sc.Text, r, sc.Pos, path).isFixed() {
			fixed = false
		}
		return sc
	})
	if fixed {
		out.body = n.JSON().Append(nil)
	} else {
		out.json = n
	}
}

// delivery compiles how a response is sent.
func (c *compiler) delivery(out *reply, decl *ReplyDecl, path string) {
	for key, d := range map[string]*time.Duration{"delay": decl.Delay, "interval": decl.Interval} {
		if d != nil && *d < 0 {
			c.report(decl.Pos, path+"."+key, "must not be negative", "")
		}
	}
	if decl.Delay != nil {
		out.delay = *decl.Delay
	}
	if decl.Interval != nil {
		out.interval = *decl.Interval
		if len(out.chunks) == 0 {
			c.report(decl.Pos, path+".interval", "interval: requires chunks: or sse:", "")
		}
	}
	ends := 0
	for ending, is := range map[Ending]bool{EndDropped: decl.Drop, EndReset: decl.Reset, EndTruncated: decl.Truncate != nil} {
		if is {
			out.ending = ending
			ends++
		}
	}
	if decl.Truncate != nil {
		if out.truncate = *decl.Truncate; out.truncate < 0 {
			c.report(decl.Pos, path+".truncate", "must not be negative", "")
		} else if size, known := out.size(); known && out.truncate > size {
			c.report(decl.Pos, path+".truncate", "the body has only "+display.Count(size, "byte"), "")
		}
	}
	if ends > 1 {
		c.report(decl.Pos, path, "drop:, reset: and truncate: exclude each other", "")
	}
}
