package engine

import (
	"strconv"

	"mcptest/internal/base/jsonv"
)

// document is one JSON document with the schemas in it.
type document struct {
	uri       string
	value     jsonv.Value
	resources map[string]*resource // by the pointers to their roots; "" is always there
	nodes     map[string]*node     // by pointer
	examined  []string             // pointers whose schemas, and those in them, were collected and checked
}

// document returns a document, loaded if it is not yet known. Errors of loading have no
// place.
func (c *compiler) document(uri string) (*document, error) {
	if d, ok := c.documents[uri]; ok {
		return d, nil
	}
	_, given := c.loaded[uri]
	v, err := c.load(uri)
	if err != nil {
		return nil, err
	}
	d := &document{uri: uri, value: v, resources: map[string]*resource{}, nodes: map[string]*node{}}
	fallback := dialect{draft: c.options.Draft}
	if err := c.collect(d, v, &trail{}, uri, nil, fallback); err != nil {
		return nil, err
	}
	if c.metaOf != nil && (given || metaschemaText(uri) == "") {
		if err := c.checkMeta(d, "", v); err != nil {
			return nil, err
		}
	}
	d.examined = append(d.examined, "")
	c.documents[uri] = d
	return d, nil
}

// load returns the value of a document; metaschemas are built in.
func (c *compiler) load(uri string) (jsonv.Value, error) {
	if v, ok := c.loaded[uri]; ok {
		return v, nil
	}
	if text := metaschemaText(uri); text != "" {
		v, err := jsonv.Parse([]byte(text))
		if err == nil {
			c.loaded[uri] = v
		}
		return v, err
	}
	if c.options.Load == nil {
		return jsonv.Value{}, ErrRefused
	}
	v, err := c.options.Load(uri)
	if err == nil {
		c.loaded[uri] = v
	}
	return v, err
}

// trail is the way from a document's root to a value, for a pointer that is seldom needed.
type trail struct {
	up    *trail
	token string
	index int // instead of a token, if it is not 0: 1 + the index
}

func (t *trail) pointer() string {
	if t.up == nil {
		return t.token // a pointer already
	}
	if t.index > 0 {
		return t.up.pointer() + "/" + strconv.Itoa(t.index-1)
	}
	return jsonv.AppendPointer(t.up.pointer(), t.token)
}
