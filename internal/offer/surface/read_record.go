package surface

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"mcptest/internal/base/jsonv"
)

// readRecordLists returns the lists in the exchanges of a run: the pages of the first
// server whose lists were requested.
func readRecordLists(run jsonv.Value) (document, error) {
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

// readRecordCalls returns the calls of a server's tools in the exchanges of a run that
// the record contains completely.
func readRecordCalls(run jsonv.Value, server string) []Call {
	var out []Call
	for _, test := range run.Lookup("tests").Elems() {
		for _, x := range test.Lookup("exchanges").Elems() {
			if x.Lookup("method").Text() != "tools/call" || x.Lookup("truncated").Bool() ||
				test.Lookup("server").Text() != server {
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

// A document is what a JSON file contains: lists, and the results of tools/list that
// held the tools.
type document struct {
	server    string
	handshake jsonv.Value
	lists     map[Kind][]jsonv.Value
	pages     []jsonv.Value
}
