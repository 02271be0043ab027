package expect

import (
	"mcptest/internal/assert/match"
	"mcptest/internal/base/jsonv"
)

// SchemaDefs returns JSON Schema definitions (2020-12) of everything that this
// package compiles, as the members of a "$defs" object: matcher, assertion,
// assert-set, expect, derived-metrics, threshold, and json-type, which they use.
// References between them are "#/$defs/…".
func SchemaDefs() jsonv.Value {
	defs := match.SchemaDefs()
	own, _ := jsonv.Parse([]byte(treeDefs)) // the tests detect an invalid one
	for key, v := range own.Members() {
		defs = append(defs, jsonv.Member{Key: key, Value: v})
	}
	return jsonv.Object(defs...)
}

const treeDefs = `{
	"assertion":{"type":"object","required":["target","matcher"],"additionalProperties":false,"properties":{
		"target":{"type":"string","description":"the value to check: a path from one of the roots"},
		"matcher":{"$ref":"#/$defs/matcher"},
		"name":{"type":"string","minLength":1,"description":"the name used by derived metrics"},
		"weight":{"$ref":"#/$defs/weight"},
		"message":{"type":"string","description":"printed first if the assertion fails"}}},
	"assert-set":{"type":"object","minProperties":1,"maxProperties":1,"additionalProperties":false,"properties":{
		"assert-set":{"$ref":"#/$defs/assert-set-body"},"assert_set":{"$ref":"#/$defs/assert-set-body"}}},
	"assert-set-body":{"type":"object","required":["assertions"],"additionalProperties":false,"properties":{
		"name":{"type":"string","minLength":1,"description":"the name used by derived metrics"},
		"threshold":{"$ref":"#/$defs/threshold","description":"the required weighted pass fraction, 0 to 1","default":1},
		"weight":{"$ref":"#/$defs/weight"},
		"assertions":{"description":"the assertions of the set","type":"array","minItems":1,"items":{"$ref":"#/$defs/assertion"}}}},
	"weight":{"type":"number","minimum":0,"description":"the weight in a score; without a threshold every item must pass, regardless of its weight","default":1},
	"threshold":{"type":"number","minimum":0,"maximum":1},
	"items":{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/assertion"},{"$ref":"#/$defs/assert-set"}]}},
	"expect":{"anyOf":[{"$ref":"#/$defs/items"},{"type":"object","additionalProperties":false,"properties":{
		"assertions":{"$ref":"#/$defs/items","description":"assertions and assert-sets"},
		"max_duration_ms":{"type":["number","string"],"pattern":"^[0-9.]+ ?(ms|s|m|h)|^\\$\\{[A-Za-z_].*\\}$","exclusiveMinimum":0,"description":"a limit on the call's duration; not part of any score"}}}]},
	"derived-metrics":{"type":"array","items":{"type":"object","required":["name","value"],"additionalProperties":false,"properties":{
		"name":{"type":"string","minLength":1,"description":"the name used by reports and later metrics"},
		"threshold":{"type":"number","description":"the test fails if the metric is lower"},
		"value":{"description":"how it is computed: exactly one of weighted_sum and weighted_average","type":"object","minProperties":1,"maxProperties":1,"additionalProperties":false,"properties":{
			"weighted_sum":{"$ref":"#/$defs/metric-terms","description":"each score times its weight, added up"},
		"weighted_average":{"$ref":"#/$defs/metric-terms","description":"the weighted sum divided by the sum of the weights"}}}}}},
	"metric-terms":{"type":"array","minItems":1,"items":{"type":"object","required":["ref"],"additionalProperties":false,"properties":{
		"ref":{"type":"string","minLength":1,"description":"the name of an assertion, a set or an earlier metric"},
		"weight":{"$ref":"#/$defs/weight"}}}}}`
