package cassette

import (
	"fmt"

	"mcptest/internal/assert/jsonpath"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/client/protocol"
)

// computeKey returns a hash that is equal for messages that match. The same call has other
// responses in another protocol version.
func (p *Player) computeKey(method string, data []byte) uint64 {
	if method == "" {
		return p.hash.Hash(jsonv.String(string(data)))
	}
	version := protocol.VersionIn(protocol.MemberOf(data, "params"))
	return p.hash.Hash(jsonv.ObjectOf("method", method, "version", version, "params", p.reduceParams(data)))
}

// reduceParams returns the part of a message that is compared.
func (p *Player) reduceParams(data []byte) jsonv.Value {
	v, err := jsonv.Parse(data)
	if err != nil {
		return jsonv.String(string(data))
	}
	return p.c.ReduceParams(v.Lookup("params"))
}

// ReduceParams returns the parameters of a request as they are compared.
func (c *Cassette) ReduceParams(params jsonv.Value) jsonv.Value {
	if params = c.Stable(params); params.Kind() == jsonv.KindObject && params.Len() == 0 {
		return jsonv.Value{} // the same as none
	}
	return params
}

// recordedParams returns the part of the request of a call that is compared.
func (p *Player) recordedParams(call *Call) jsonv.Value {
	return p.reduceParams(p.c.Data(call.Request))
}

// Ignore adds volatile paths to those of the header.
func (c *Cassette) Ignore(volatile []string) error {
	more, err := parsePaths(volatile)
	c.Volatile, c.volatile = append(c.Volatile, volatile...), append(c.volatile, more...)
	return err
}

// Stable returns the parameters of a request, or a result, without metadata and
// without the volatile paths.
func (c *Cassette) Stable(v jsonv.Value) jsonv.Value {
	if v.Kind() != jsonv.KindObject {
		return v
	}
	v = v.Without("_meta")
	for _, path := range c.volatile {
		v = removePath(v, path)
	}
	return v
}

// CheckVolatile returns an error if a text is not a volatile path.
func CheckVolatile(texts []string) error {
	_, err := parsePaths(texts)
	return err
}

// parsePaths parses volatile paths.
func parsePaths(texts []string) (out [][]jsonpath.Step, err error) {
	for _, text := range texts {
		steps, _, wrong := jsonpath.Parse(text)
		switch {
		case wrong != nil:
			return nil, fmt.Errorf("volatile path %q: %s", text, wrong.Msg)
		case len(steps) == 0:
			return nil, fmt.Errorf("volatile path %q: it must select a member, such as arguments.now", text)
		}
		out = append(out, steps)
	}
	return out, nil
}

// removePath removes the value at a path.
func removePath(v jsonv.Value, path []jsonpath.Step) jsonv.Value {
	if len(path) == 0 {
		return v
	}
	s := &path[0]
	if s.Kind == jsonpath.Name {
		e, ok := v.Get(s.Name)
		switch {
		case !ok:
			return v
		case len(path) == 1:
			return v.Without(s.Name)
		}
		return v.With(s.Name, removePath(e, path[1:]))
	}
	if v.Kind() != jsonv.KindArray {
		return v
	}
	var out []jsonv.Value
	for i, e := range v.Elems() {
		switch {
		case !s.SelectsAt(i, v.Len()):
			out = append(out, e)
		case len(path) > 1:
			out = append(out, removePath(e, path[1:]))
		}
	}
	return jsonv.Array(out...)
}

// isMaskedEqual reports whether live equals rec, in which a mask matches any text.
func isMaskedEqual(rec, live jsonv.Value) bool {
	switch {
	case rec.Kind() != live.Kind():
		return false
	case rec.Kind() == jsonv.KindString:
		return secret.Matches(rec.Text(), live.Text())
	case rec.Kind() == jsonv.KindArray:
		for i, e := range rec.Elems() {
			if !isMaskedEqual(e, live.At(i)) {
				return false
			}
		}
		return rec.Len() == live.Len()
	case rec.Kind() == jsonv.KindObject:
		for k, e := range rec.Members() {
			if !isMaskedEqual(e, live.Lookup(k)) {
				return false
			}
		}
		return rec.Len() == live.Len()
	}
	return jsonv.Equal(rec, live)
}
