package keep

import (
	"bytes"
	"fmt"
	"slices"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/draft"
)

// Edit is an insertion into a text.
type Edit struct {
	Offset int
	Text   []byte
}

// Apply returns the text with the insertion.
func (e Edit) Apply(text []byte) []byte {
	return slices.Concat(text[:e.Offset], e.Text, text[e.Offset:])
}

// Line returns the line on which the inserted test begins, the last one of its list, and
// whether no other test begins there: then `mcptest run FILE:LINE` runs it.
func (e Edit) Line(before []byte, block string) (line int, alone bool) {
	root, _ := source.Parse(&source.File{Data: e.Apply(before)})
	list := root.Get(block)
	if list == nil || len(list.Items) == 0 {
		return 1, false
	}
	last := len(list.Items) - 1
	line = list.Items[last].Pos.Line
	return line, last == 0 || list.Items[last-1].Pos.Line != line
}

// RefusedError says why a test cannot be inserted into a file.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

func refuse(pos source.Pos, format string, args ...any) error {
	return &RefusedError{pos.String() + ": " + fmt.Sprintf(format, args...)}
}

// elsewhere is the way out when a list has no place of its own in the file.
const elsewhere = "keep the test in another suite file, which this one can import"

// Insert returns the insertion of a test at the end of the list of its block. Text converts
// the texts of the call, see [draft.Entry.Value]. The error is a *RefusedError.
func Insert(file *source.File, e draft.Entry, text func(string) string) (Edit, error) {
	root, diags := source.Parse(file)
	if root == nil || diags.HasErrors() || root.Kind != source.KindMap {
		return Edit{}, &RefusedError{file.Name + " is not a valid suite"}
	}
	s := surroundings{
		file: file,
		root: root,
		eol:  findLineEnd(file.Data),
		test: rendering{entry: e, value: e.Value(text)},
	}
	s.test.json = isJSON(file)
	list := root.Get(e.Block)
	var tries []Edit
	switch {
	case list == nil:
		tries = s.newList()
	case list.Kind != source.KindList:
		return Edit{}, refuse(list.Pos, "%s: is not a list", e.Block)
	default:
		if at, shared := list.Alias(); shared {
			return Edit{}, refuse(at, "%s: is an alias or comes from a merge key, so a test in it would be in several lists; %s", e.Block, elsewhere)
		}
		tries = s.endOf(list)
	}
	for _, edit := range tries {
		if s.holds(edit) {
			return edit, nil
		}
	}
	if !s.endsWithLineEnd() {
		return Edit{}, refuse(file.At(len(file.Data)), "the last text of the file would get a line end; end the file with a line end first")
	}
	return Edit{}, refuse(source.Pos{File: file}, "no place for a test at the end of %s: was found; %s", e.Block, elsewhere)
}

// surroundings are the suite around the test.
type surroundings struct {
	file *source.File
	root *source.Node
	eol  string
	test rendering
}

// endOf returns the places at the end of a list, the best one first.
func (s *surroundings) endOf(list *source.Node) []Edit {
	start := s.skipProperties(s.file.Offset(list.Pos))
	if start < 0 || start >= len(s.file.Data) {
		return nil
	}
	if s.file.Data[start] == '[' {
		return s.insertInFlow(start, list.Items, s.test.renderItem())
	}
	return s.insertInBlock(list)
}

// newList returns the places for a new list at the end of the suite.
func (s *surroundings) newList() []Edit {
	start := s.skipProperties(s.file.Offset(s.root.Pos))
	if start >= 0 && start < len(s.file.Data) && s.file.Data[start] == '{' {
		var fields []*source.Node
		for _, f := range s.root.Fields {
			fields = append(fields, f.Key)
		}
		return s.insertInFlow(start, fields, s.test.renderField())
	}
	return s.newBlock()
}

// holds reports whether a suite with an insertion is the suite before with one more test.
func (s *surroundings) holds(edit Edit) bool {
	after := &source.File{Name: s.file.Name, Path: s.file.Path, Data: edit.Apply(s.file.Data)}
	root, diags := source.Parse(after)
	if root == nil || diags.HasErrors() || root.Kind != source.KindMap {
		return false
	}
	block := s.test.entry.Block
	before, now := s.root.Get(block), root.Get(block)
	if now == nil || now.Kind != source.KindList || len(now.Items) == 0 {
		return false
	}
	last := len(now.Items) - 1
	var items []*source.Node
	if before != nil {
		items = before.Items
	}
	if !slices.EqualFunc(items, now.Items[:last], equal) {
		return false
	}
	if !equal(source.FromJSON(s.test.value, source.Pos{}), now.Items[last]) {
		return false
	}
	others := func(n *source.Node) []source.Field {
		return slices.DeleteFunc(slices.Clone(n.Fields), func(f source.Field) bool { return f.Key.Text == block })
	}
	return slices.EqualFunc(others(s.root), others(root), equalFields)
}

// equal reports whether two nodes have the same value.
func equal(a, b *source.Node) bool {
	if a.Kind != b.Kind || a.Text != b.Text || len(a.Fields) != len(b.Fields) {
		return false
	}
	return slices.EqualFunc(a.Items, b.Items, equal) && slices.EqualFunc(a.Fields, b.Fields, equalFields)
}

func equalFields(a, b source.Field) bool {
	return a.Key.Text == b.Key.Text && equal(a.Value, b.Value)
}

// findLineEnd returns the line end that a text uses first.
func findLineEnd(text []byte) string {
	i := bytes.IndexAny(text, "\r\n")
	switch {
	case i < 0 || text[i] == '\n':
		return "\n"
	case i+1 < len(text) && text[i+1] == '\n':
		return "\r\n"
	}
	return "\r"
}
