package recording

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/source"
	"mcptest/internal/base/source/stored"
	"mcptest/internal/base/web"
)

// version is the version of the format.
const version = 1

// The keys at the top of a file. keyVersion identifies the format; a file without
// keyEnd in its last line is truncated.
const (
	keyVersion = "mcptest_recording"
	keyEnd     = "end"
)

// File is a recording, read or to be written. It is not changed after Read.
type File struct {
	Upstream string // the name of the upstream that was recorded
	Random   map[string]string
	Trials   Trials
	masks    []string // what was replaced
	list     []exchange
	// standsFor is the address that was recorded.
	standsFor    string
	standsForPos source.Pos
	byKey        map[string][]int
	// masked are exchanges whose request has a mask.
	masked []int
	// mu guards the players of tests that run at the same time.
	mu sync.Mutex
}

// Trials is how many attempts of each test a recording of a model holds; that of an
// upstream has none. Each attempt gets its own answers, each once.
type Trials map[string]int

// areOfModel reports whether the recording is that of a model.
func (t Trials) areOfModel() bool { return len(t) > 0 }

// Any is read as the name of every upstream.
const Any = "NAME"

// ModelAgain is the command that writes the recording of a model.
const ModelAgain = "mcptest run --model-mode record"

// Again returns the command that writes the recording of an upstream.
func Again(upstream string) string { return "mcptest run --record-upstream " + upstream }

// Read reads the recording at path, which is shown as name.
func Read(path, name, upstream string) (*File, source.Diagnostics) {
	src, diags := source.Read(path, name)
	if src == nil {
		return nil, diags
	}
	return Parse(src, upstream)
}

// Parse reads a recording of an upstream.
func Parse(src *source.File, upstream string) (*File, source.Diagnostics) {
	if d, found := stored.FindConflict(src, Again(upstream)); found {
		return nil, source.Diagnostics{d}
	}
	root, diags := source.Parse(src)
	if root == nil || diags.HasErrors() {
		if !strings.HasSuffix(strings.TrimRight(string(src.Data), "\r\n"), keyEnd+": true") && strings.Contains(string(src.Data), keyVersion) {
			return nil, source.Diagnostics{newTruncatedError(source.Pos{File: src, Line: max(src.Lines()-1, 1), Col: 1})}
		}
		return nil, diags
	}
	var d source.Decoder
	f := &File{byKey: map[string][]int{}}
	if checkHeader(&d, root, upstream) {
		f.decode(&d, root)
	}
	if diags = d.Diagnostics(); diags.HasErrors() {
		return nil, diags
	}
	for i := range f.list {
		e := &f.list[i]
		e.identify()
		f.byKey[e.joinKeys()] = append(f.byKey[e.joinKeys()], i)
		if strings.Contains(e.joinKeys(), secret.Mask) {
			f.masked = append(f.masked, i)
		}
	}
	return f, diags
}

func newTruncatedError(pos source.Pos) source.Diagnostic {
	d := source.Errorf(pos, "", "the recording is truncated: its last line must be %q", keyEnd+": true")
	d.Hint = "restore the file from version control, or delete it and record again"
	return d
}

// checkHeader checks whether the file is a complete recording with a supported version and
// known masks.
func checkHeader(d *source.Decoder, root *source.Node, upstream string) bool {
	v := root.Get(keyVersion)
	if v == nil {
		d.Errorf(root, "", "not a recording of mcptest: it has no %s", keyVersion).Hint = "write one with " + Again(upstream)
		return false
	}
	n, err := strconv.Atoi(v.Text)
	switch {
	case err == nil && n > version:
		d.Errorf(v, keyVersion, "the recording has format %d, this version of mcptest reads %d", n, version).Hint = "update mcptest"
		return false
	case err != nil || n != version:
		d.Errorf(v, keyVersion, "unknown format %s, expected %d", source.FlowText(v.Text), version)
		return false
	}
	if root.Get(keyEnd) == nil {
		d.Add(newTruncatedError(root.Pos))
		return false
	}
	if masks := root.Get("masks"); masks == nil {
		d.Errorf(root, "", "the recording has no masks: it is not known what was replaced in it").Hint = "restore the file from version control, or delete it and record again"
	} else {
		for i, m := range masks.Items {
			if !slices.Contains(maskNames, m.Text) {
				near := source.Parenthesis(source.DidYouMean(m.Text, maskNames))
				diag := d.Errorf(m, source.PathIndex("masks", i), "unknown mask %s: this version of mcptest does not know what it replaces%s", source.FlowText(m.Text), near)
				diag.Hint = "update mcptest, or delete the file and record again with " + Again(upstream)
			}
		}
	}
	if name := root.Get("upstream"); name != nil && upstream != Any && name.Text != upstream {
		d.Errorf(name, "upstream", "this is a recording of the upstream %s, not of %s", source.FlowText(name.Text), source.FlowText(upstream)).Hint = otherHint
	}
	return d.Count() == 0
}

const otherHint = "name another file, or delete this one and record again"

// Of returns a mistake if the recording is of another address than api. Two addresses of this
// machine are considered equal: their ports change.
func (f *File) Of(api string) (d source.Diagnostic, wrong bool) {
	recorded, err := url.Parse(f.standsFor)
	now, err2 := url.Parse(api)
	if f.standsFor == "" || err == nil && err2 == nil && sameHost(recorded, now) {
		return d, false
	}
	d = source.Errorf(f.standsForPos, "stands_for", "this is a recording of %s, not of %s",
		source.FlowText(f.standsFor), source.FlowText(api))
	d.Hint = otherHint
	return d, true
}

// document is the decoded file.
type document struct {
	Version   int                `yaml:"mcptest_recording"`
	Upstream  string             `yaml:"upstream,required"`
	StandsFor string             `yaml:"stands_for"`
	Masks     []string           `yaml:"masks"`
	Random    source.Map[string] `yaml:"random"`
	Trials    source.Map[int]    `yaml:"trials"`
	// Tools are lists of definitions, by the name that requests have in their place.
	Tools     source.Map[*source.Node] `yaml:"tools"`
	Exchanges []entry                  `yaml:"exchanges"`
	End       bool                     `yaml:"end"`
}

type entry struct {
	Pos      source.Pos
	Request  requestEntry  `yaml:"request,required"`
	Test     string        `yaml:"test"`
	Response responseEntry `yaml:"response,required"`
}

type requestEntry struct {
	Method  string            `yaml:"method,required"`
	Path    string            `yaml:"path,required"`
	Query   source.Map[texts] `yaml:"query"`
	Headers source.Map[texts] `yaml:"headers"`
	content `yaml:",inline"`
}

type responseEntry struct {
	Status  int               `yaml:"status,required"`
	Headers source.Map[texts] `yaml:"headers"`
	content `yaml:",inline"`
}

// content is a body.
type content struct {
	JSON      *source.Node      `yaml:"json"`
	Layout    string            `yaml:"layout"`
	Raw       string            `yaml:"raw"`
	Text      *string           `yaml:"text"`
	Form      source.Map[texts] `yaml:"form"`
	Multipart []partEntry       `yaml:"multipart"`
	Base64    string            `yaml:"base64"`
	Gzip      bool              `yaml:"gzip"`
}

type partEntry struct {
	Name     string       `yaml:"name"`
	Filename string       `yaml:"filename"`
	Type     string       `yaml:"type"`
	Body     *source.Node `yaml:"body"`
}

// texts is a text or a list of texts.
type texts []string

// DecodeNode reads a text or a list of texts.
func (t *texts) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	var one string
	if !d.DecodeOneOrMany(n, path, (*[]string)(t), &one, "") {
		*t = texts{one}
	}
}

func (f *File) decode(d *source.Decoder, root *source.Node) {
	var doc document
	d.Decode(root, "", &doc)
	f.Upstream, f.standsFor, f.masks = doc.Upstream, doc.StandsFor, doc.Masks
	if n := root.Get("stands_for"); n != nil {
		f.standsForPos = n.Pos
	}
	f.Random, f.Trials = convertValues(doc.Random), convertValues(doc.Trials)
	tools := convertValues(doc.Tools)
	exchanges := root.Get("exchanges")
	for i := range doc.Exchanges {
		in := &doc.Exchanges[i]
		n, path := exchanges.Items[i], source.PathIndex("exchanges", i)
		e := exchange{
			test:      in.Test,
			method:    in.Request.Method,
			path:      in.Request.Path,
			status:    in.Response.Status,
			line:      in.Pos.Line,
			query:     url.Values(convertTextLists(in.Request.Query)),
			reqHeader: http.Header(convertTextLists(in.Request.Headers)),
			resHeader: http.Header{},
		}
		for name, list := range convertTextLists(in.Response.Headers) {
			e.resHeader[http.CanonicalHeaderKey(name)] = list
		}
		if e.status < 100 || e.status > 599 {
			d.Errorf(n.Get("response"), path+".response.status", "%d is not an HTTP status", e.status)
		}
		e.request = in.Request.readBody(d, n.Get("request"), path+".request")
		if list := tools[e.request.json.Lookup("tools").Text()]; list != nil {
			e.request.json = e.request.json.With("tools", list.JSON())
		}
		e.response = in.Response.readBody(d, n.Get("response"), path+".response")
		f.list = append(f.list, e)
	}
}

func convertValues[V any](m source.Map[V]) map[string]V {
	out := make(map[string]V, len(m.Entries))
	for _, e := range m.Entries {
		out[e.Key] = e.Value
	}
	return out
}

func convertTextLists(m source.Map[texts]) map[string][]string {
	out := make(map[string][]string, len(m.Entries))
	for _, e := range m.Entries {
		out[e.Key] = e.Value
	}
	return out
}

// readBody converts the content to a body.
func (c *content) readBody(d *source.Decoder, n *source.Node, path string) body {
	b := body{gzip: c.Gzip}
	switch {
	case c.JSON != nil:
		b.form, b.json, b.layout, b.text = jsonBody, c.JSON.JSON(), c.Layout, c.Raw
		if _, ok := layOut(jsonv.Null(), c.Layout); !ok && c.Layout != layoutOther {
			d.Errorf(n.Get("layout"), path+".layout", "unknown layout %s", source.FlowText(c.Layout))
		}
	case c.Text != nil:
		b.form, b.text = textBody, *c.Text
	case c.Form.Entries != nil:
		b.form, b.values = formBody, url.Values(convertTextLists(c.Form))
	case c.Multipart != nil:
		b.form = multipartBody
		for _, p := range c.Multipart {
			var inner content
			d.Decode(p.Body, path+".multipart", &inner)
			body := inner.readBody(d, p.Body, path+".multipart")
			b.parts = append(b.parts, part{p.Name, p.Filename, p.Type, body})
		}
	case c.Base64 != "":
		data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(c.Base64), ""))
		if err != nil {
			d.Errorf(n.Get("base64"), path+".base64", "invalid base64")
		}
		b.form, b.text = base64Body, string(data)
	}
	return b
}

// sameHost reports whether two addresses have the same host; this machine is one host.
func sameHost(a, b *url.URL) bool {
	return strings.EqualFold(a.Host, b.Host) || web.IsLoopback(a.Hostname()) && web.IsLoopback(b.Hostname())
}
