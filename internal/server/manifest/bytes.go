package manifest

import (
	"bytes"
	"encoding/base64"

	"mcptest/internal/base/source"
)

// RawBytes are bytes that are written to the wire unchanged: text with placeholders,
// or base64 for bytes that cannot be written as text. A line end is added unless
// stated otherwise.
type RawBytes struct {
	text    *Template
	fixed   []byte // when text is nil
	repeat  int
	newline bool
}

// maxRaw bounds the number of bytes that one step writes.
const maxRaw = 256 << 20

// bytesKeys are the keys of the long form of bytes.
type bytesKeys struct {
	// The bytes as text.
	Text *source.Node `yaml:"text"`
	// The bytes in base64.
	Base64 *source.Node `yaml:"base64"`
	// How often they are written.
	Repeat *int `yaml:"repeat" default:"1"`
	// false: no end of line follows.
	Newline *bool `yaml:"newline" default:"true"`
}

// compileRawBytes compiles text or {text | base64, repeat?, newline?}.
func (c compiler) compileRawBytes(n *source.Node, path string) *RawBytes {
	out := &RawBytes{repeat: 1, newline: true}
	if n.Kind == source.KindString {
		out.text = c.compile(n, path)
		return out
	}
	var m bytesKeys
	if n.Kind != source.KindMap {
		c.d.ReportWrongType(n, path, "text, or a map with text or base64")
		return out
	}
	c.d.Decode(n, path, &m)
	if (m.Text == nil) == (m.Base64 == nil) {
		c.d.Errorf(n, path, "must have exactly one of text and base64")
	}
	out.text = compileOptional(m.Text, path+".text", c.compile)
	if m.Base64 != nil {
		out.fixed = decodeBase64(m.Base64, path+".base64", c.d)
	}
	if m.Newline != nil {
		out.newline = *m.Newline
	}
	if m.Repeat != nil {
		out.repeat = *m.Repeat
		if out.repeat < 1 || out.repeat > maxRaw {
			c.d.Errorf(n.Get("repeat"), path+".repeat", "must be from 1 to %d, got %d", maxRaw, out.repeat)
			out.repeat = 1
		}
	}
	return out
}

// decodeBase64 decodes data that has no placeholder.
func decodeBase64(n *source.Node, path string, d *source.Decoder) []byte {
	if n.Kind != source.KindString {
		d.ReportWrongType(n, path, "base64 text")
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(n.Text)
	if err != nil {
		d.Errorf(n, path, "this is not base64: %v", err)
	}
	return data
}

// Bytes returns the bytes to send, with the placeholders of a text replaced.
func (r *RawBytes) Bytes(values Values) []byte {
	data := r.fixed
	if r.text != nil {
		data = []byte(r.text.Text(values))
	}
	if len(data) > 0 {
		data = bytes.Repeat(data, max(1, min(r.repeat, maxRaw/len(data))))
	}
	if r.newline && !bytes.HasSuffix(data, []byte("\n")) {
		data = append(data, '\n')
	}
	return data
}
