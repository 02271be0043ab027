package engine

import (
	"embed"
	"strings"
)

// The metaschemas as published at json-schema.org, without their texts for people.
//
//go:embed metaschemas
var metaschemas embed.FS

// metaschemaText returns the metaschema at a URI, "" if there is none.
func metaschemaText(uri string) string {
	name, ok := strings.CutPrefix(withoutScheme(uri), "json-schema.org/")
	if !ok {
		return ""
	}
	if name == "schema" {
		name = "draft/2020-12/schema"
	}
	text, err := metaschemas.ReadFile("metaschemas/" + name + ".json")
	if err != nil {
		return ""
	}
	return string(text)
}
