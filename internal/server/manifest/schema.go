package manifest

import "reflect"

// KeyTypes returns the structs whose fields are the keys of the file, by the word that the
// tag keys of other fields has for them; "" is the file itself. The schema of manifests is
// made from them.
func KeyTypes() map[string]reflect.Type {
	return map[string]reflect.Type{
		"":                  reflect.TypeFor[documentKeys](),
		"server":            reflect.TypeFor[manifestKeys](),
		"tool":              reflect.TypeFor[toolKeys](),
		"task":              reflect.TypeFor[taskKeys](),
		"moment":            reflect.TypeFor[momentKeys](),
		"resource":          reflect.TypeFor[listedResourceKeys](),
		"resource-template": reflect.TypeFor[templateKeys](),
		"prompt":            reflect.TypeFor[promptKeys](),
		"prompt-argument":   reflect.TypeFor[promptArgument](),
		"response":          reflect.TypeFor[responseKeys](),
		"condition":         reflect.TypeFor[conditionKeys](),
		"error":             reflect.TypeFor[errorKeys](),
		"bytes":             reflect.TypeFor[bytesKeys](),
		"message":           reflect.TypeFor[messageKeys](),
		"step":              reflect.TypeFor[stepKeys](),
		"log":               reflect.TypeFor[logKeys](),
		"progress":          reflect.TypeFor[progressKeys](),
		"notification":      reflect.TypeFor[notifyKeys](),
		"question":          reflect.TypeFor[askKeys](),
	}
}
