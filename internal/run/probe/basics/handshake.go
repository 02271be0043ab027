package basics

import (
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/handshake"
	"mcptest/internal/run/probe/exam"
)

// judgeHandshake compares the members of the handshake with the schema, whether or not a client
// refuses them. The version and the hints for caches have rules of their own.
func judgeHandshake(v *exam.Visit) exam.Outcome {
	res := exam.Result(v.Hello)
	for _, fault := range handshake.Faults(res, v.Modern()) {
		return exam.Broken(v.Hello, "%s", fault)
	}
	for i, version := range res.Lookup("supportedVersions").List() {
		if version.Kind() != jsonv.KindString {
			return exam.Broken(v.Hello, "supportedVersions[%d] is %s, not a string", i, version.Kind().WithArticle())
		}
	}
	return exam.Held()
}
