package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
)

// checkMeta holds the schema at a pointer of a document, and those in it, against the
// metaschemas of their dialects.
func (c *compiler) checkMeta(d *document, ptr string, v jsonv.Value) error {
	others := d.otherDialects(ptr)
	if err := c.checkOne(d, ptr, v, others); err != nil {
		return err
	}
	for _, other := range others {
		v, _ := d.value.Pointer(other)
		if err := c.checkOne(d, other, v, others); err != nil {
			return err
		}
	}
	return nil
}

func (c *compiler) checkOne(d *document, ptr string, v jsonv.Value, others []string) error {
	root := c.metaOf(d.around(ptr).dialect)
	meta := &metaCheck{root: root, patterns: c.patterns}
	for _, other := range others {
		if rest, ok := strings.CutPrefix(other, ptr); ok && rest != "" {
			meta.elsewhere = append(meta.elsewhere, rest)
		}
	}
	e := &evaluation{ctx: context.Background(), quiet: true, meta: meta}
	if e.check(root, v, nil) {
		return nil
	}
	if e.err != nil {
		return errorAt(Place{URI: d.uri, Pointer: ptr}, "%v", e.err)
	}
	e = &evaluation{ctx: context.Background(), meta: meta} // again, to say why
	e.check(root, v, nil)
	if errors.Is(e.err, errTooMany) {
		e = &evaluation{ctx: context.Background(), meta: meta, flat: true}
		e.check(root, v, nil)
	}
	return &Error{Place: Place{URI: d.uri, Pointer: ptr}, Failures: e.failures, Value: v}
}

// otherDialects returns the pointers to the resources below a pointer whose dialect
// differs from that around them, sorted.
func (d *document) otherDialects(ptr string) []string {
	var out []string
	for at, r := range d.resources {
		if at == "" || !strings.HasPrefix(at, ptr+"/") {
			continue
		}
		if above := d.around(at[:strings.LastIndexByte(at, '/')]); !above.dialect.equal(r.dialect) {
			out = append(out, at)
		}
	}
	slices.Sort(out)
	return out
}
