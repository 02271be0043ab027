package engine

import "mcptest/internal/base/jsonv"

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
