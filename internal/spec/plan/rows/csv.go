package rows

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// readCSV reads a CSV file (RFC 4180) whose first line names the columns. An
// unquoted field is a JSON scalar if it can be parsed as one; a quoted field is
// text. It does not use encoding/csv, which changes line breaks in quoted fields
// and would make parsing a single row more expensive.
func (r *reader) readCSV(file *source.File) {
	r.into.text, r.into.file = file.Data, file
	p := csvParser{data: file.Data}
	if bytes.HasPrefix(p.data, []byte("\ufeff")) {
		p.at = len("\ufeff")
	}
	var header []string
	for bad := 0; !p.done() && bad < MaxBad; {
		if p.isBlank() {
			continue
		}
		start := p.at
		if header == nil {
			var msg string
			if header, msg = p.parseHeader(); msg != "" {
				r.Dec.ErrorAt(file.At(p.at), "", msg, "the first line names the columns")
				return
			}
			at := strings.IndexAny(header[0], ";\t")
			if len(header) == 1 && at >= 0 && file.Data[start] != '"' {
				r.Dec.ErrorAt(file.At(start), "", fmt.Sprintf("the columns are separated by %q, not by commas", header[0][at]), "save it with commas; a single column of this name is written in quotes")
				return
			}
			r.into.csv = header
			continue
		}
		fields := 0
		msg := p.record(func(int, int) { fields++ })
		switch {
		case msg != "":
			r.Dec.ErrorAt(file.At(p.at), "", msg, "")
			return
		case fields != len(header):
			r.Dec.ErrorAt(file.At(start), "", fmt.Sprintf("the number of fields is %d, but the first line names %d columns", fields, len(header)), "")
			bad++
		default:
			r.into.spans = append(r.into.spans, span{uint32(start), uint32(p.end)})
		}
	}
}

// parseCSVRow parses one valid record.
func parseCSVRow(text []byte, header []string) jsonv.Value {
	row := make([]jsonv.Member, 0, len(header))
	whole := string(text) // one copy for all fields
	p := csvParser{data: text}
	p.record(func(start, end int) {
		row = append(row, jsonv.Member{Key: header[len(row)], Value: parseCSVValue(whole[start:end])})
	})
	return jsonv.Object(row...)
}

func parseCSVValue(field string) jsonv.Value {
	start := strings.TrimLeft(field, " \t")
	switch {
	case strings.HasPrefix(field, `"`):
		return jsonv.String(unquoteCSV(field))
	case start != "" && strings.IndexByte("-0123456789tfn", start[0]) >= 0: // it may be a scalar
		if v, err := jsonv.Parse([]byte(field)); err == nil {
			return v
		}
	}
	return jsonv.String(field)
}

func unquoteCSV(field string) string { return strings.ReplaceAll(field[1:len(field)-1], `""`, `"`) }

// csvParser finds the bounds of records without building values.
type csvParser struct {
	data    []byte
	at, end int // end of the last record, without its line break
}

func (p *csvParser) done() bool { return p.at >= len(p.data) }

// isBlank skips an empty line.
func (p *csvParser) isBlank() bool {
	if c := p.data[p.at]; c != '\n' && c != '\r' {
		return false
	}
	p.skipNewline()
	return true
}

func (p *csvParser) skipNewline() {
	if p.at < len(p.data) && p.data[p.at] == '\r' {
		p.at++
	}
	if p.at < len(p.data) && p.data[p.at] == '\n' {
		p.at++
	}
}

// record skips one record and passes the bounds of its fields to each; msg describes a
// mistake at p.at.
func (p *csvParser) record(each func(start, end int)) (msg string) {
	for {
		start := p.at
		if msg = p.parseField(); msg != "" {
			return msg
		}
		each(start, p.at)
		if p.done() || p.data[p.at] != ',' {
			p.end = p.at
			p.skipNewline()
			return ""
		}
		p.at++
	}
}

func (p *csvParser) parseHeader() (names []string, msg string) {
	bad, fault := 0, ""
	msg = p.record(func(start, end int) {
		name := string(p.data[start:end])
		if strings.HasPrefix(name, `"`) {
			name = unquoteCSV(name)
		}
		name = strings.TrimSpace(name)
		switch {
		case fault != "": // the first mistake is reported
		case name == "":
			bad, fault = start, fmt.Sprintf("column %d has no name", len(names)+1)
		case slices.Contains(names, name):
			bad, fault = start, fmt.Sprintf("two columns are called %q", name)
		}
		names = append(names, name)
	})
	if fault != "" {
		p.at, msg = bad, fault
	}
	return names, msg
}

// parseField skips one field. After a mistake, p.at is its position.
func (p *csvParser) parseField() (msg string) {
	if p.done() || p.data[p.at] != '"' {
		for i := p.at; i < len(p.data); i++ {
			switch p.data[i] {
			case ',', '\r', '\n':
				p.at = i
				return ""
			case '"':
				p.at = i
				return "a quote inside a field that does not begin with one"
			}
		}
		p.at = len(p.data)
		return ""
	}
	for i := p.at + 1; ; {
		end := bytes.IndexByte(p.data[i:], '"')
		if end < 0 {
			return "a quoted field does not end"
		}
		i += end + 1
		if i == len(p.data) {
			p.at = i
			return ""
		}
		switch p.data[i] {
		case '"':
			i++
		case ',', '\r', '\n':
			p.at = i
			return ""
		default:
			p.at = i
			return "text after the closing quote of a field"
		}
	}
}
