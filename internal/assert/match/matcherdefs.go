package match

import (
	"strings"

	"mcptest/internal/base/jsonv"
)

// SchemaDefs returns the JSON Schema definitions (2020-12) matcher, and json-type,
// which it uses.
func SchemaDefs() []jsonv.Member {
	return []jsonv.Member{
		// null is included because authors may write type: null without quotes.
		{Key: "json-type", Value: parseFixed(`{"enum":["` + strings.Join(jsonTypes, `","`) + `",null]}`)},
		{Key: "matcher", Value: matcherSchema()},
	}
}

// matcherSchema returns the schema of a map with one matcher.
func matcherSchema() jsonv.Value {
	rows := Matchers()
	props := make([]jsonv.Member, 0, len(rows))
	for _, row := range rows {
		described := jsonv.ObjectOf("description", row.Doc+"; example: "+row.Example, "allOf", jsonv.Array(row.ArgSchema))
		props = append(props, jsonv.Member{Key: row.Name, Value: described})
		for _, alias := range row.Aliases {
			props = append(props, jsonv.Member{Key: alias, Value: parseFixed(`{"$ref":"#/$defs/matcher/properties/` + row.Name + `"}`)})
		}
	}
	return parseFixed(`{"type":"object","minProperties":1,"maxProperties":1,"additionalProperties":false}`).
		With("properties", jsonv.Object(props...))
}

// parseFixed parses a schema literal; an invalid one is an absent value,
// which the tests detect.
func parseFixed(text string) jsonv.Value {
	v, _ := jsonv.Parse([]byte(text))
	return v
}
