package recording

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"mcptest/internal/base/jsonv"
)

// form is the form of a body in the file.
type form uint8

const (
	empty form = iota
	jsonBody
	textBody
	formBody
	multipartBody
	base64Body
)

// formKeys are the keys of the forms in the file.
var formKeys = [...]string{empty: "", jsonBody: "json", textBody: "text", formBody: "form", multipartBody: "multipart", base64Body: "base64"}

// body is the body of a request or a response, in the most readable form that
// reproduces its bytes.
type body struct {
	form   form
	json   jsonv.Value
	layout string     // of json; "" is compact
	text   string     // also the bytes of base64
	values url.Values // of a form
	parts  []part     // of multipart
	gzip   bool       // compressed without a Content-Encoding
}

// part is one part of a multipart body.
type part struct {
	name, filename, mediaType string
	body                      body
}

// maxBody is the size above which a body is not recorded, compressed or not.
const maxBody = 8 << 20

// maxNested is the number of levels of nested multipart bodies.
const maxNested = 3

// decodeBody decodes the Content-Encoding of a body.
func decodeBody(h http.Header, data []byte) ([]byte, error) {
	for _, name := range h.Values("Content-Encoding") {
		for coding := range strings.SplitSeq(name, ",") {
			var err error
			switch strings.ToLower(strings.TrimSpace(coding)) {
			case "", "identity":
			case "gzip", "x-gzip":
				data, err = gunzip(data)
			case "deflate":
				data, err = inflate(data)
			default:
				err = fmt.Errorf("the Content-Encoding %q cannot be read, and what cannot be read cannot be sanitized", strings.TrimSpace(coding))
			}
			if err != nil {
				return nil, err
			}
		}
	}
	if len(data) > maxBody {
		return nil, fmt.Errorf("the body has %d bytes, more than %d", len(data), maxBody)
	}
	return data, nil
}

func gunzip(data []byte) ([]byte, error) {
	if len(data) == 0 {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the body is not valid gzip: %w", err)
	}
	return readLimited(r)
}

func inflate(data []byte) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the body is not valid deflate: %w", err)
	}
	return readLimited(r)
}

func readLimited(r io.Reader) ([]byte, error) {
	out, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("the compressed body is damaged: %w", err)
	}
	if len(out) > maxBody {
		return nil, fmt.Errorf("the body has more than %d bytes", maxBody)
	}
	return out, nil
}

// parseGzip parses a body that is compressed, although no header says so.
func parseGzip(data []byte, depth int) (body, bool) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b, 8}) || depth >= maxNested {
		return body{}, false
	}
	plain, err := gunzip(data)
	if err != nil {
		return body{}, false
	}
	b := parseBody("", plain, depth+1)
	b.gzip = b.form != empty && !b.gzip
	return b, b.gzip
}

// parseJSON parses a body of JSON, also of another media type.
func parseJSON(mediaType string, data []byte) (body, bool) {
	c := bytes.TrimLeft(data, " \t\r\n")
	if len(c) == 0 || c[0] != '{' && c[0] != '[' && !strings.HasSuffix(mediaType, "json") {
		return body{}, false
	}
	v, notes, err := jsonv.ParseWith(data, jsonv.Options{MaxDepth: 90})
	if err != nil || len(notes) > 0 {
		return body{}, false
	}
	if layout, ok := detectLayout(v, data); ok {
		return body{form: jsonBody, json: v, layout: layout}, true
	}
	return body{form: jsonBody, json: v, layout: layoutOther, text: string(data)}, true
}

// parseBody parses a body without Content-Encoding.
func parseBody(contentType string, data []byte, depth int) body {
	if len(data) == 0 {
		return body{}
	}
	if b, ok := parseGzip(data, depth); ok {
		return b
	}
	mediaType, params, _ := mime.ParseMediaType(contentType)
	switch {
	case mediaType == "application/x-www-form-urlencoded":
		if values, err := url.ParseQuery(string(data)); err == nil && utf8.Valid(data) {
			return body{form: formBody, values: values}
		}
	case strings.HasPrefix(mediaType, "multipart/") && params["boundary"] != "" && depth < maxNested:
		if parts, err := parseParts(data, params["boundary"], depth); err == nil {
			return body{form: multipartBody, parts: parts}
		}
	}
	if b, ok := parseJSON(mediaType, data); ok {
		return b
	}
	if utf8.Valid(data) {
		return body{form: textBody, text: string(data)}
	}
	return body{form: base64Body, text: string(data)}
}

func parseParts(data []byte, boundary string, depth int) ([]part, error) {
	var out []part
	r := multipart.NewReader(bytes.NewReader(data), boundary)
	for {
		p, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(p)
		if err != nil {
			return nil, err
		}
		if plain, err := decodeBody(http.Header(p.Header), content); err == nil {
			content = plain
		}
		if strings.EqualFold(p.Header.Get("Content-Transfer-Encoding"), "base64") {
			if plain, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(content)), "")); err == nil {
				content = plain
			}
		}
		kind := p.Header.Get("Content-Type")
		out = append(out, part{p.FormName(), p.FileName(), kind, parseBody(kind, content, depth+1)})
	}
}

// layoutOther is the layout of JSON whose text cannot be reproduced from its value.
const layoutOther = "other"

// layouts are the ways in which programs format JSON, by their names in the file.
var layouts = []struct {
	name  string
	write func(jsonv.Value) []byte
}{
	{"", func(v jsonv.Value) []byte { return v.Append(nil) }},
	{"spaced", formatSpaced},
	{"indent-2", func(v jsonv.Value) []byte { return v.Indent("", "  ") }},
	{"indent-4", func(v jsonv.Value) []byte { return v.Indent("", "    ") }},
	{"indent-tab", func(v jsonv.Value) []byte { return v.Indent("", "\t") }},
}

// lineEnd is the suffix of the name of a layout with a line break at the end.
const lineEnd = "line"

// detectLayout returns the layout in which a value is formatted as data.
func detectLayout(v jsonv.Value, data []byte) (name string, ok bool) {
	bare, line := bytes.CutSuffix(data, []byte("\n"))
	for _, l := range layouts {
		if bytes.Equal(l.write(v), bare) {
			if line {
				return strings.TrimPrefix(l.name+"-"+lineEnd, "-"), true
			}
			return l.name, true
		}
	}
	return "", false
}

// layOut formats a value in a layout; ok is false for an unknown one.
func layOut(v jsonv.Value, layout string) (text []byte, ok bool) {
	name, line := strings.CutSuffix("-"+layout, "-"+lineEnd)
	for _, l := range layouts {
		if l.name == strings.TrimPrefix(name, "-") {
			text = l.write(v)
			if line {
				text = append(text, '\n')
			}
			return text, true
		}
	}
	return nil, false
}

// formatSpaced formats JSON on one line, with a space after each comma and colon. A line
// break in JSON is never part of a text.
func formatSpaced(v jsonv.Value) []byte {
	text := bytes.ReplaceAll(v.Indent("", ""), []byte(",\n"), []byte(", "))
	return bytes.ReplaceAll(text, []byte("\n"), nil)
}

// join returns the body as it is sent.
func (b *body) join() []byte {
	var out []byte
	switch b.form {
	case jsonBody:
		if b.layout == layoutOther {
			out = []byte(b.text)
		} else {
			out, _ = layOut(b.json, b.layout)
		}
	case formBody:
		out = []byte(b.values.Encode())
	case textBody, base64Body:
		out = []byte(b.text)
	}
	if b.gzip {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		_, _ = w.Write(out)
		_ = w.Close()
		return z.Bytes()
	}
	return out
}
