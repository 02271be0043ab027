package engine

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
