package surface

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

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
		return jsonv.Value{}, nil, explainFileError(path, err)
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

// readLists finds the lists in a JSON document: a list of tools, the result of a
// list request, the whole response, or a record of mcptest.
func readLists(v jsonv.Value) (document, error) {
	doc := document{lists: map[Kind][]jsonv.Value{}}
	switch {
	case v.Kind() == jsonv.KindArray:
		isNoObject := func(e jsonv.Value) bool { return e.Kind() != jsonv.KindObject }
		if bad := slices.IndexFunc(v.List(), isNoObject); bad >= 0 {
			return doc, fmt.Errorf("element %d of the list is not a tool: expected an object, got %s", bad, v.At(bad).Kind().WithArticle())
		}
		doc.lists[Tool] = v.List()
		return doc, nil
	case strings.HasPrefix(v.Lookup("schema").Text(), "mcptest.run/"):
		return readRecordLists(v)
	case v.Lookup("result").Kind() == jsonv.KindObject:
		v = v.Lookup("result")
	case v.Lookup("error").Kind() == jsonv.KindObject && !v.Lookup("jsonrpc").IsAbsent():
		return doc, fmt.Errorf("the response is an error: %s", v.Lookup("error", "message").Short(200))
	}
	found := false
	for _, l := range listKnown() {
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

// MaxFile is the maximum size of a file in bytes.
const MaxFile = 64 << 20

func explainFileError(path string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w%s", path, err, source.Parenthesis(source.Suggest(source.FindNearFile(path))))
	}
	return fmt.Errorf("%s: %w", path, err)
}
