package basics

import (
	"fmt"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/run/probe/exam"
)

// flags are the members of capabilities that are true or false.
var flags = map[string][]string{"tools": {"listChanged"}, "prompts": {"listChanged"}, "resources": {"listChanged", "subscribe"}}

// handshake compares the capabilities and texts of the handshake with the schema. What else
// the schema requires of it has rules of its own.
func handshake(v *exam.Visit) exam.Outcome {
	res := exam.Result(v.Hello)
	caps := res.Lookup("capabilities")
	defined := []string{"experimental", "logging", "completions", "prompts", "resources", "tools"}
	switch {
	case v.Modern():
		defined = append(defined, "extensions")
	case v.Version.Name == "2025-11-25":
		defined = append(defined, "tasks")
	}
	for _, name := range defined {
		if why := wrongCapability(name, caps.Lookup(name)); why != "" {
			return exam.Broken(v.Hello, "%s", why)
		}
	}
	if text := res.Lookup("instructions"); !text.IsAbsent() && text.Kind() != jsonv.KindString {
		return exam.Broken(v.Hello, "instructions is %s, not a string", text.Kind().WithArticle())
	}
	for i, version := range res.Lookup("supportedVersions").List() {
		if version.Kind() != jsonv.KindString {
			return exam.Broken(v.Hello, "supportedVersions[%d] is %s, not a string", i, version.Kind().WithArticle())
		}
	}
	return exam.Held()
}

// wrongCapability says what is wrong with a declared capability, "" for nothing.
func wrongCapability(name string, capability jsonv.Value) string {
	if capability.IsAbsent() {
		return ""
	}
	if capability.Kind() != jsonv.KindObject {
		return fmt.Sprintf("capabilities.%s is %s, not an object", name, capability.Kind().WithArticle())
	}
	for _, flag := range flags[name] {
		if set := capability.Lookup(flag); !set.IsAbsent() && set.Kind() != jsonv.KindBool {
			return fmt.Sprintf("capabilities.%s.%s is %s, not a boolean", name, flag, set.Kind().WithArticle())
		}
	}
	if name != "experimental" && name != "extensions" {
		return ""
	}
	for key, settings := range capability.Members() {
		if settings.Kind() != jsonv.KindObject {
			return fmt.Sprintf("capabilities.%s[%q] is %s, not an object", name, key, settings.Kind().WithArticle())
		}
	}
	return ""
}
