package rows

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite"
)

// Rows are the rows of `cases:`. They are kept as text and parsed on demand, so
// that 100,000 rows cost little more than their bytes. Rows of a CSV or JSON Lines
// file are slices of the file; other rows are encoded as JSON.
type Rows struct {
	text   []byte
	spans  []span
	csv    []string     // column names, if text is CSV
	file   *source.File // set if text is the text of a file
	places []source.Pos // positions of rows that are not slices of a file
}

// span is the position of a row in text.
type span struct{ start, end uint32 }

// Len returns the number of rows.
func (r *Rows) Len() int { return len(r.spans) }

// At parses one row. It returns an absent value if r is nil.
func (r *Rows) At(i int) jsonv.Value {
	if r == nil {
		return jsonv.Value{}
	}
	text := r.text[r.spans[i].start:r.spans[i].end]
	if r.csv != nil {
		return parseCSVRow(text, r.csv)
	}
	v, err := jsonv.Parse(text)
	if err != nil {
		return jsonv.Object() // cannot happen: the text was parsed before
	}
	return v
}

// Pos returns the source position of a row; it is zero if r is nil.
func (r *Rows) Pos(i int) source.Pos {
	switch {
	case r == nil:
	case r.file != nil:
		return r.file.At(int(r.spans[i].start))
	case i < len(r.places):
		return r.places[i]
	}
	return source.Pos{}
}

func (r *Rows) addJSON(v jsonv.Value, pos source.Pos) {
	start := len(r.text)
	r.text = v.Append(r.text)
	r.spans = append(r.spans, span{uint32(start), uint32(len(r.text))})
	r.places = append(r.places, pos)
}

// Label returns the label of a row: its name, or its number from 1.
func Label(i int, v jsonv.Value) string {
	if name, ok := v.Get("name"); ok {
		switch name.Kind() {
		case jsonv.KindString:
			if s := strings.TrimSpace(name.Text()); s != "" {
				return s
			}
		case jsonv.KindNumber:
			return name.Literal()
		case jsonv.KindBool:
			return name.String()
		}
	}
	return strconv.Itoa(i + 1)
}

// Secrets returns the values that are credentials by the names of their columns.
func (r *Rows) Secrets() []string {
	if r.csv != nil && !slices.ContainsFunc(r.csv, secret.Holds) {
		return nil
	}
	p := secret.NewProgram()
	for i := range r.spans {
		for name, v := range r.At(i).Members() {
			if v.Kind() == jsonv.KindString && secret.Holds(name) {
				p.Text(name + ": " + v.Text())
			}
		}
	}
	return p.Secrets()
}

// Table returns the name of the rows' CSV file, or "".
func (r *Rows) Table() string {
	if r.csv == nil {
		return ""
	}
	return r.file.Name
}

// Options configure Read.
type Options struct {
	Dec          *source.Decoder
	Dir          string // directory of the suite
	AllowOutside bool
	Opened       func(path string) // called with the name of the file; may be nil
}

// MaxBad is the number of invalid rows that are reported before reading stops.
const MaxBad = 20

// Read reads `cases:`: a list of maps, or the path of a file. written is the node
// before its placeholders were replaced.
func Read(n, written *source.Node, path string, o Options) *Rows {
	r := &reader{Options: o, into: &Rows{}}
	text, isText := n.AsText()
	switch {
	case n.Kind == source.KindList:
		r.listRows(n, path)
	case isText && text != "":
		r.readFile(n, written, path)
	default:
		d := r.Dec.ReportWrongType(n, path, "a list of maps, or the path of a CSV, JSON Lines or YAML file")
		if n.Kind == source.KindMap {
			d.Hint = "begin each row with a hyphen: - {column: value}"
		}
	}
	return r.into
}

type reader struct {
	Options
	into *Rows
}

func (r *reader) listRows(n *source.Node, path string) {
	for i, item := range n.Items {
		if item.Kind != source.KindMap {
			r.Dec.ReportWrongType(item, source.PathIndex(path, i), "a row: a map of values")
			continue
		}
		r.into.addJSON(item.JSON(), item.Pos)
	}
}

// Open reads the file that a node names, relative to the file of the node written, if its
// name ends like one of kinds. It returns nil after a mistake, which it reports.
func (o Options) Open(n, written *source.Node, path string, kinds ...string) *source.File {
	name := filepath.FromSlash(n.Text)
	if !filepath.IsAbs(name) && written.Pos.File != nil {
		name = filepath.Join(filepath.Dir(written.Pos.File.Path), name)
	}
	if !o.AllowOutside && !suite.IsInside(o.Dir, name) {
		o.Dec.ErrorAt(n.Pos, path, n.Text+" is outside the suite's directory", "move it below the suite, or run with --allow-outside")
		return nil
	}
	last := len(kinds) - 1
	if !slices.Contains(kinds, strings.ToLower(filepath.Ext(name))) {
		hint := "use a " + strings.Join(kinds[:last], ", ") + " or " + kinds[last] + " file"
		o.Dec.ErrorAt(n.Pos, path, "can't tell what "+n.Text+" holds", hint)
		return nil
	}
	if o.Opened != nil {
		o.Opened(name)
	}
	file, diags := source.Read(name, showName(written, n.Text))
	if file == nil {
		for _, d := range diags {
			d.Pos, d.Path, d.Msg = n.Pos, path, "can't read "+n.Text+": "+d.Msg
			d.Hint = cmp.Or(d.Hint, "looked for "+name)
			o.Dec.Add(d)
		}
		return nil
	}
	if !filepath.IsAbs(n.Text) && written.Pos.File != nil {
		o.Dec.WarnElsewhere(n, path, filepath.Dir(written.Pos.File.Path), n.Text)
	}
	return file
}

func (r *reader) readFile(n, written *source.Node, path string) {
	file := r.Open(n, written, path, ".csv", ".jsonl", ".ndjson", ".yaml", ".yml", ".json")
	if file == nil {
		return
	}
	switch strings.ToLower(filepath.Ext(n.Text)) {
	case ".csv":
		if r.checkTextFile(file) {
			r.readCSV(file)
		}
	case ".jsonl", ".ndjson":
		if r.checkTextFile(file) {
			r.readJSON(file)
		}
	default:
		root, diags := source.Parse(file)
		r.Dec.Add(diags...)
		if root == nil {
			return
		}
		if root.Kind != source.KindList {
			r.Dec.ReportWrongType(root, "", "a list of maps")
			return
		}
		r.listRows(root, "")
	}
}

// showName returns the name of a row file for messages, relative to the same directory
// as the suite's.
func showName(n *source.Node, name string) string {
	if n.Pos.File == nil || filepath.IsAbs(name) {
		return name
	}
	return filepath.ToSlash(filepath.Join(filepath.Dir(n.Pos.File.Name), name))
}

// checkTextFile reports whether a file is UTF-8. If not, it reports the position of the
// first invalid byte.
func (r *reader) checkTextFile(file *source.File) bool {
	if d, bad := source.CheckEncoding(file); bad {
		r.Dec.Add(d)
		return false
	}
	if utf8.Valid(file.Data) {
		return true
	}
	for i := 0; i < len(file.Data); {
		char, size := utf8.DecodeRune(file.Data[i:])
		if char == utf8.RuneError && size <= 1 {
			d := source.Errorf(file.At(i), "", "the file is not UTF-8")
			d.Code, d.Hint = "encoding", "save it as UTF-8"
			r.Dec.Add(d)
			break
		}
		i += size
	}
	return false
}

// readJSON reads JSON Lines: one object per line; blank lines are ignored.
func (r *reader) readJSON(file *source.File) {
	r.into.text, r.into.file = file.Data, file
	bad, start := 0, 0
	for line := range bytes.Lines(file.Data) {
		at := start
		start += len(line)
		text := bytes.TrimLeft(bytes.TrimPrefix(line, []byte("\ufeff")), " \t")
		at += len(line) - len(text)
		text = bytes.TrimRight(text, " \t\r\n")
		if len(text) == 0 {
			continue
		}
		_, notes, err := jsonv.ParseWith(text, jsonv.Options{})
		twice := slices.IndexFunc(notes, func(n jsonv.Note) bool { return n.Kind == jsonv.DuplicateKey })
		switch {
		case bad >= MaxBad:
			return
		case err != nil:
			pos, msg := at, err.Error()
			if se := (*jsonv.SyntaxError)(nil); errors.As(err, &se) {
				pos, msg = pos+se.Offset, "not JSON: "+se.Msg
			}
			r.Dec.ErrorAt(file.At(pos), "", msg, "each line is one JSON object")
			bad++
		case text[0] != '{':
			v, _ := jsonv.Parse(text)
			r.Dec.ErrorAt(file.At(at), "", fmt.Sprintf("expected an object, got %s", v.Kind()), "each line is one JSON object")
			bad++
		case twice >= 0:
			n := notes[twice]
			r.Dec.ErrorAt(file.At(at+n.Offset), "", "duplicate key "+strconv.Quote(n.Pointer[1:]), "each key of an object may appear only once")
			bad++
		default:
			r.into.spans = append(r.into.spans, span{uint32(at), uint32(at + len(text))})
		}
	}
}
