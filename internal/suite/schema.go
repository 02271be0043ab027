package suite

import "reflect"

// SchemaTypes returns the structs that hold the keys of the language, by the
// names that the published schema gives them. They are what the generator of
// the schema and of the reference starts from: source.Fields lists their keys,
// the comments of the fields in this package describe them. Structs that these
// lead to through their fields are not in the list; types with DecodeNode, which
// have no keys of their own or several forms, are described by the generator.
func SchemaTypes() map[string]reflect.Type {
	return map[string]reflect.Type{
		"suite":              reflect.TypeFor[document](),
		"tools-test":         reflect.TypeFor[toolsEntry](),
		"resources-test":     reflect.TypeFor[resourcesEntry](),
		"prompts-test":       reflect.TypeFor[promptsEntry](),
		"protocol-test":      reflect.TypeFor[protocolEntry](),
		"surface-test":       reflect.TypeFor[surfaceEntry](),
		"check-test":         reflect.TypeFor[checkEntry](),
		"token-budget":       reflect.TypeFor[tokenBudget](),
		"same-as":            reflect.TypeFor[sameAs](),
		"server":             reflect.TypeFor[Server](),
		"variant":            reflect.TypeFor[Variant](),
		"header-env":         reflect.TypeFor[headerEnv](),
		"variable-env":       reflect.TypeFor[fromEnv](),
		"context-hook":       reflect.TypeFor[contextHook](),
		"step":               reflect.TypeFor[Step](),
		"respond":            reflect.TypeFor[Respond](),
		"sampling-text":      reflect.TypeFor[samplingText](),
		"elicitation-answer": reflect.TypeFor[elicitationKeys](),
	}
}
