package suite

import "reflect"

// SchemaTypes returns the structs that define the keys of the language, by their
// names in the published schema. The generators of the schema and of the reference
// start from them: source.Fields lists the keys, and the comments of the fields in
// this package describe them. Structs that are reachable through fields are not
// listed. The generator describes types with DecodeNode, which have no keys or
// several forms.
func SchemaTypes() map[string]reflect.Type {
	out := map[string]reflect.Type{
		"suite":              reflect.TypeFor[document](),
		"server":             reflect.TypeFor[Server](),
		"variant":            reflect.TypeFor[Variant](),
		"bundle-command":     reflect.TypeFor[BundleCommand](),
		"header-env":         reflect.TypeFor[headerEnv](),
		"variable-env":       reflect.TypeFor[fromEnv](),
		"capture":            reflect.TypeFor[captureKeys](),
		"context-hook":       reflect.TypeFor[contextHook](),
		"step":               reflect.TypeFor[Step](),
		"respond":            reflect.TypeFor[Respond](),
		"sampling-text":      reflect.TypeFor[samplingText](),
		"elicitation-answer": reflect.TypeFor[elicitationKeys](),
	}
	for block, t := range EntryTypes() {
		out[string(block)+"-test"] = t
	}
	return out
}
