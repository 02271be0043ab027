package expect

import (
	"slices"
	"strings"

	"mcptest/internal/jsonv"
	"mcptest/internal/source"
)

// The keywords of JSON Schema (2020-12 and the earlier drafts), by what their
// values hold.
var (
	// one schema
	schemaOne = strings.Fields(`additionalItems additionalProperties contains contentSchema else if items not
		propertyNames then unevaluatedItems unevaluatedProperties`)
	// a list of schemas (items too, up to 2019-09)
	schemaLists = strings.Fields(`allOf anyOf items oneOf prefixItems`)
	// a map of schemas by names of the author's
	schemaMaps = strings.Fields(`$defs definitions dependencies dependentSchemas patternProperties properties`)
	// anything else
	schemaPlain = strings.Fields(`$anchor $comment $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $ref
		$schema $vocabulary const contentEncoding contentMediaType default dependentRequired deprecated description enum
		examples exclusiveMaximum exclusiveMinimum format id maxContains maxItems maxLength maxProperties maximum
		minContains minItems minLength minProperties minimum multipleOf pattern readOnly required title type
		uniqueItems writeOnly`)
	schemaKeywords = slices.Concat(schemaOne, schemaLists, schemaMaps, schemaPlain)
)

// maxLintDepth bounds the walk; deeper schemas do not compile.
const maxLintDepth = jsonv.MaxSchemaDepth

// lintSchema warns of keywords that JSON Schema would silently ignore but that
// look like a misspelling: such a schema would let everything pass.
func (c *compiler) lintSchema(n *source.Node, path string, depth int) {
	if depth > maxLintDepth {
		return
	}
	for _, f := range n.Fields {
		key := f.Key.Text
		at := jsonv.JoinKey(path, key)
		if !slices.Contains(schemaKeywords, key) {
			if near := source.Nearest(key, schemaKeywords); near != "" && !strings.HasPrefix(key, "x-") {
				diag := c.d.Warnf(f.Key, at, "JSON Schema has no keyword %s (did you mean %s?): it is ignored", quoteKey(key), quote(near))
				diag.Pos = f.Key.Pos
			}
			continue
		}
		if slices.Contains(schemaOne, key) {
			c.lintSchema(f.Value, at, depth+1)
		}
		if slices.Contains(schemaLists, key) {
			for i, item := range f.Value.Items {
				c.lintSchema(item, index(at, i), depth+1)
			}
		}
		if slices.Contains(schemaMaps, key) {
			for _, sub := range f.Value.Fields {
				c.lintSchema(sub.Value, jsonv.JoinKey(at, sub.Key.Text), depth+1)
			}
		}
	}
}
