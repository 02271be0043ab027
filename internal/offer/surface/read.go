package surface

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/osfile"
	"mcptest/internal/base/source"
)

// MaxFile is the maximum size of a file in bytes.
const MaxFile = 64 << 20

// Read reads the surfaces in a file or a folder: one, or several if the folder
// contains the lock files of several servers. mask hides secrets in texts. Errors
// contain the file and, if known, the line.
func Read(path string, mask func(string) string) ([]*Surface, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	if st.IsDir() {
		return readFolder(path, mask)
	}
	s, err := readFile(path, mask)
	if err != nil {
		return nil, err
	}
	return []*Surface{s}, nil
}

func fileError(path string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w%s", path, err, source.Parenthesis(source.Suggest(source.FindNearFile(path))))
	}
	return fmt.Errorf("%s: %w", path, err)
}

// readFolder reads lock files, or else toolsnaps, which contain one tool each.
func readFolder(dir string, mask func(string) string) ([]*Surface, error) {
	locks, err := filepath.Glob(filepath.Join(osfile.EscapeGlob(dir), "*.lock.yaml"))
	if err != nil {
		return nil, err
	}
	var out []*Surface
	for _, path := range locks {
		s, err := readFile(path, mask)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(out, func(o *Surface) bool { return o.Server == s.Server }); i >= 0 {
			return nil, fmt.Errorf("%s and %s are both of the server %q", out[i].Source, path, s.Server)
		}
		out = append(out, s)
	}
	if len(out) > 0 {
		return out, nil
	}
	s, err := readSnaps(dir, mask)
	if err != nil {
		return nil, err
	}
	return []*Surface{s}, nil
}

// readSnaps reads a folder of toolsnaps, with its subfolders.
func readSnaps(dir string, mask func(string) string) (*Surface, error) {
	var tools []jsonv.Value
	from := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".snap") {
			return err
		}
		v, _, err := parseJSON(path)
		if err != nil {
			return err
		}
		if v.Kind() != jsonv.KindObject {
			return fmt.Errorf("%s: expected the definition of a tool, got %s", path, v.Kind().WithArticle())
		}
		name := v.Lookup("name").Text()
		if name == "" {
			name = strings.TrimSuffix(filepath.Base(path), ".snap")
			v = v.With("name", jsonv.String(name))
		}
		if other := from[name]; other != "" {
			return fmt.Errorf("%s: the tool %q is also defined in %s", path, name, other)
		}
		from[name] = path
		tools = append(tools, v)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(tools) == 0 {
		return nil, fmt.Errorf("%s: expected lock files (*.lock.yaml) or toolsnaps (*.snap) in the folder, found none", dir)
	}
	s := New("", jsonv.Value{}, map[Kind][]jsonv.Value{Tool: tools}, mask, nil)
	s.Source, s.Unknown = dir, []Kind{Resource, Template, Prompt, Skill}
	return s, nil
}

func readFile(path string, mask func(string) string) (*Surface, error) {
	if isYAML(path) {
		f, diags := source.Read(path, path)
		if diags.HasErrors() {
			return nil, diags
		}
		return ParseLock(f)
	}
	v, data, err := parseJSON(path)
	if err != nil {
		return nil, err
	}
	doc, err := listsOf(v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	offset, line := 0, 1 // of the previous definition, because positions are requested in order
	s := New(doc.server, doc.handshake, doc.lists, mask, func(v jsonv.Value) int {
		if v.Offset() < 0 {
			return 0
		}
		if v.Offset() < offset {
			offset, line = 0, 1
		}
		line += bytes.Count(data[offset:v.Offset()], []byte("\n"))
		offset = v.Offset()
		return line
	})
	s.Source, s.Calls, s.Pages = path, recordCalls(v, doc.server), doc.pages
	for _, l := range Lists() {
		if _, listed := doc.lists[l.Kind]; !listed {
			s.Unknown = append(s.Unknown, l.Kind)
		}
	}
	return s, nil
}

// isYAML reports whether a file is YAML by its name, or begins with a comment, as
// lock files do.
func isYAML(path string) bool {
	if ext := strings.ToLower(filepath.Ext(path)); ext == ".yaml" || ext == ".yml" {
		return true
	}
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() { // a pipe can be read only once
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var first [1]byte
	n, _ := f.Read(first[:])
	return n == 1 && first[0] == '#'
}

// ReadJSON reads a file of JSON. Errors contain the file and, if known, the line.
func ReadJSON(path string) (jsonv.Value, error) {
	v, _, err := parseJSON(path)
	return v, err
}

func parseJSON(path string) (jsonv.Value, []byte, error) {
	if st, err := os.Stat(path); err == nil && st.Size() > MaxFile {
		return jsonv.Value{}, nil, fmt.Errorf("%s: the file has %d bytes, the limit is %d", path, st.Size(), MaxFile)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return jsonv.Value{}, nil, fileError(path, err)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	v, err := jsonv.Parse(data)
	if syntax, ok := errors.AsType[*jsonv.SyntaxError](err); ok {
		line, col := jsonv.FindPosition(data, syntax.Offset)
		return jsonv.Value{}, nil, fmt.Errorf("%s:%d:%d: not JSON: %s", path, line, col, syntax.Msg)
	}
	return v, data, err
}

var errNoLists = errors.New("expected the result of tools/list (an object with tools, or a list of tools), a lock file or a result file of mcptest that contains such a call")

// A document is what a JSON file contains: lists, and the results of tools/list that
// held the tools.
type document struct {
	server    string
	handshake jsonv.Value
	lists     map[Kind][]jsonv.Value
	pages     []jsonv.Value
}

// listsOf finds the lists in a JSON document: a list of tools, the result of a
// list request, the whole response, or a record of mcptest.
func listsOf(v jsonv.Value) (document, error) {
	doc := document{lists: map[Kind][]jsonv.Value{}}
	switch {
	case v.Kind() == jsonv.KindArray:
		if bad := slices.IndexFunc(v.List(), func(e jsonv.Value) bool { return e.Kind() != jsonv.KindObject }); bad >= 0 {
			return doc, fmt.Errorf("element %d of the list is not a tool: expected an object, got %s", bad, v.At(bad).Kind().WithArticle())
		}
		doc.lists[Tool] = v.List()
		return doc, nil
	case strings.HasPrefix(v.Lookup("schema").Text(), "mcptest.run/"):
		return recordLists(v)
	case v.Lookup("result").Kind() == jsonv.KindObject:
		v = v.Lookup("result")
	case v.Lookup("error").Kind() == jsonv.KindObject && !v.Lookup("jsonrpc").IsAbsent():
		return doc, fmt.Errorf("the response is an error: %s", v.Lookup("error", "message").Short(200))
	}
	found := false
	for _, l := range known() {
		list, ok := v.Get(l.Member)
		if !ok {
			continue
		}
		if list.Kind() != jsonv.KindArray {
			return doc, fmt.Errorf("%s: expected a list, got %s", l.Member, list.Kind().WithArticle())
		}
		found = true
		doc.lists[l.Kind] = list.List()
	}
	if !found {
		return doc, errNoLists
	}
	if next := v.Lookup("nextCursor"); next.Kind() == jsonv.KindString {
		return doc, errors.New("the list is one page of several (it has a nextCursor)")
	}
	if h := v.Lookup("initialize"); h.Kind() == jsonv.KindObject {
		doc.handshake = h
	}
	doc.pages = []jsonv.Value{v}
	return doc, nil
}

// recordLists returns the lists in the exchanges of a run: the pages of the first
// server whose lists were requested.
func recordLists(run jsonv.Value) (document, error) {
	r := recordReader{
		doc:    document{lists: map[Kind][]jsonv.Value{}},
		seen:   map[string]bool{},
		wanted: map[string]List{},
	}
	for _, test := range run.Lookup("tests").Elems() {
		server := test.Lookup("server").Text()
		for _, x := range test.Lookup("exchanges").Elems() {
			i := slices.IndexFunc(Lists(), func(l List) bool { return l.Method == x.Lookup("method").Text() })
			if i < 0 || r.found && server != r.doc.server {
				continue
			}
			if err := r.add(Lists()[i], x, server); err != nil {
				return r.doc, err
			}
		}
	}
	if !r.found {
		return r.doc, errors.New("no test of this record requested tools/list, resources/list or prompts/list; to judge its results: --only results")
	}
	for _, page := range slices.Sorted(maps.Keys(r.wanted)) {
		l := r.wanted[page]
		if !r.seen[page] {
			return r.doc, fmt.Errorf("this record has a part of %s only, not all of its pages; write the list with `mcptest %s --json`", l.Method, l.Member)
		}
	}
	return r.doc, nil
}

// recordReader collects the pages of lists. Several tests may request the same one.
type recordReader struct {
	doc    document
	found  bool
	seen   map[string]bool
	wanted map[string]List
}

// add adds the page in an exchange, unless another session requested it.
func (r *recordReader) add(l List, x jsonv.Value, server string) error {
	frame, err := jsonv.Parse([]byte(x.Lookup("response").Text()))
	if err != nil || x.Lookup("truncated").Bool() {
		return fmt.Errorf("the response to %s is not kept in full in this record; write it with `mcptest %s --json`", l.Method, l.Member)
	}
	request, _ := jsonv.Parse([]byte(x.Lookup("request").Text()))
	result := frame.Lookup("result")
	first := l.Method + "\x00"
	page := first + request.Lookup("params", "cursor").Text()
	list := result.Lookup(l.Member)
	_, follows := r.wanted[page]
	ofOther := page != first && r.seen[first] && !follows
	if list.Kind() != jsonv.KindArray || r.seen[page] || ofOther {
		return nil
	}
	r.found = true
	r.doc.server = server
	r.seen[page] = true
	r.wanted[first] = l
	if next := result.Lookup("nextCursor"); next.Kind() == jsonv.KindString {
		r.wanted[first+next.Text()] = l
	}
	r.doc.lists[l.Kind] = append(r.doc.lists[l.Kind], list.List()...)
	if l.Kind == Tool {
		r.doc.pages = append(r.doc.pages, result)
	}
	return nil
}

// recordCalls returns the calls of a server's tools in the exchanges of a run that
// the record contains completely.
func recordCalls(run jsonv.Value, server string) []Call {
	var out []Call
	for _, test := range run.Lookup("tests").Elems() {
		for _, x := range test.Lookup("exchanges").Elems() {
			if x.Lookup("method").Text() != "tools/call" || x.Lookup("truncated").Bool() || test.Lookup("server").Text() != server {
				continue
			}
			request, err1 := jsonv.Parse([]byte(x.Lookup("request").Text()))
			response, err2 := jsonv.Parse([]byte(x.Lookup("response").Text()))
			result := response.Lookup("result")
			if err1 == nil && err2 == nil && result.Kind() == jsonv.KindObject {
				out = append(out, Call{Tool: request.Lookup("params", "name").Text(), Result: result})
			}
		}
	}
	return out
}
