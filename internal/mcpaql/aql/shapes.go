package aql

import (
	"strconv"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/reference"
	"mcptest/internal/mcpaql/rule"
)

var (
	typeKinds = []string{"enum", "object", "scalar", "union"}

	protocolVersion = evidence.Pattern(`^\d+\.\d+\.\d+(-[a-zA-Z0-9.-]+)?$`)
	errorCode       = evidence.Pattern(`^[A-Z][A-Z0-9_]*$`)
	timeOfDay       = evidence.Pattern(`^(\d\d):(\d\d):(\d\d(?:\.\d+)?)([zZ]|([+-])(\d\d)(?::?(\d\d))?)$`)
)

var (
	anyText  = words{}
	category = words{oneOf: rule.SemanticCategories}
	code     = words{like: errorCode, want: "capitals, digits and underscores"}
	snake    = words{like: evidence.SnakeCase, want: "snake_case"}
	texts    = sequence{of: anyText}
)

// operationList is the data of the answer to "which operations are there"
// (INT 3.2, 4.1).
var operationList = &objectShape{closed: "operations.data-members", fields: []fieldShape{
	required("operations", "operations.list", sequence{of: operationInfo, elemRule: "operations.item"}),
	may("_protocol", "operations.protocol", &objectShape{fields: []fieldShape{
		required("version", "operations.protocol-version", words{like: protocolVersion, want: "a version such as 1.0.0"}),
		may("conformance", "operations.protocol-conformance", words{oneOf: []string{"level-1", "level-2"}}),
		may("mode", "operations.protocol-mode", words{
			oneOf:  []string{"semantic", "single", "all"},
			except: map[string]string{"crude": "operations.protocol-mode-crude"},
		}),
		may("capabilities", "operations.protocol-capabilities", &objectShape{fields: capabilityFlags}),
	}}),
}}

var operationInfo = &objectShape{closed: "operations.item-members", fields: []fieldShape{
	required("name", "operations.name", anyText),
	required("semantic_category", "operations.category", category),
	required("endpoint", "operations.endpoint", words{filled: true}),
	required("description", "operations.description", anyText),
}}

var capabilityFlags = func() (out []fieldShape) {
	for _, name := range []string{
		"batch", "field_selection", "aggregations", "computed_fields", "pagination",
		"relationship_queries", "warnings", "confirmation", "dangerous_operations",
	} {
		out = append(out, may(name, "operations.protocol-capability", flag))
	}
	return out
}()

// typeList is the data of the answer to "which types are there" (INT 3.5).
var typeList = &objectShape{closed: "types.data-members", fields: []fieldShape{
	required("types", "types.list", sequence{elemRule: "types.item", of: &objectShape{closed: "types.item-members", fields: []fieldShape{
		required("name", "types.name", anyText),
		required("kind", "types.kind", words{oneOf: typeKinds}),
		may("description", "types.description", anyText),
	}}}),
}}

// operationDetail is the adapter's description of one operation (INT 3.3).
var operationDetail = &objectShape{closed: "details.members", fields: []fieldShape{
	required("name", "details.name", anyText),
	required("semantic_category", "details.category", category),
	required("endpoint", "details.endpoint", words{filled: true}),
	required("mcpTool", "details.mcp-tool", anyText),
	required("description", "details.description", anyText),
	required("permissions", "details.permissions", &objectShape{closed: "details.permissions-members", fields: []fieldShape{
		required("readOnly", "details.read-only", flag),
		required("destructive", "details.destructive", flag),
	}}),
	required("parameters", "details.parameters", sequence{of: parameterInfo, elemRule: "details.parameter"}),
	required("returns", "details.returns", &objectShape{closed: "details.returns-members", fields: []fieldShape{
		required("name", "details.returns-name", anyText),
		required("kind", "details.returns-kind", words{oneOf: typeKinds}),
		may("description", "details.returns-description", anyText),
	}}),
	may("examples", "details.examples", sequence{elemRule: "details.example", of: &objectShape{closed: "details.example-members", fields: []fieldShape{
		required("request", "details.example-request", anyObject),
		may("description", "details.example-description", anyText),
	}}}),
	may("computed_fields", "details.computed-fields", sequence{elemRule: "details.computed-field", of: &objectShape{closed: "details.computed-members", fields: []fieldShape{
		required("name", "details.computed-name", snake),
		required("type", "details.computed-type", anyText),
		may("description", "details.computed-description", anyText),
		may("filterable", "details.computed-filterable", flag),
		may("sortable", "details.computed-sortable", flag),
	}}}),
	may("aggregation_support", "details.aggregation", &objectShape{closed: "details.aggregation-members", fields: []fieldShape{
		required("supported", "details.aggregation-supported", flag),
		may("default_mode", "details.aggregation-mode", words{oneOf: []string{"summary_only", "include_items"}}),
		may("functions", "details.aggregation-functions", sequence{of: words{oneOf: []string{"count", "group_by", "sum", "avg", "min", "max"}}}),
		may("groupable_fields", "details.aggregation-groupable", texts),
		may("numeric_fields", "details.aggregation-numeric", texts),
	}}),
	may("relationship_capabilities", "details.relationships", &objectShape{closed: "details.relationship-members", fields: []fieldShape{
		required("supported", "details.relationship-supported", flag),
		may("directions", "details.relationship-directions", sequence{of: words{oneOf: []string{"incoming", "outgoing", "both"}}}),
		may("relationship_types", "details.relationship-types", texts),
		may("max_depth", "details.relationship-depth", amount{whole: true, min: 1}),
	}}),
	may("lifecycle", "details.lifecycle", &objectShape{closed: "details.lifecycle-members", fields: []fieldShape{
		required("states", "details.lifecycle-states", texts),
		may("supports_cancel", "details.lifecycle-cancel", flag),
		may("supports_retry", "details.lifecycle-retry", flag),
		may("progress_reporting", "details.lifecycle-progress", flag),
	}}),
}}

// parameterInfo describes one parameter (INT 3.4).
var parameterInfo = &objectShape{closed: "details.parameter-members", fields: []fieldShape{
	required("name", "details.parameter-name", anyText),
	required("type", "details.parameter-type", anyText),
	required("required", "details.parameter-required", flag),
	may("description", "details.parameter-description", anyText),
	may("pattern", "details.parameter-pattern", anyText),
	may("format", "details.parameter-format", anyText),
	may("default", "", anything{}),
	may("enum", "details.parameter-enum", sequence{}),
	may("minimum", "details.parameter-minimum", amount{free: true}),
	may("maximum", "details.parameter-maximum", amount{free: true}),
	may("minLength", "details.parameter-min-length", amount{whole: true}),
	may("maxLength", "details.parameter-max-length", amount{whole: true}),
	may("items", "details.parameter-items", anyObject),
	may("sensitive", "details.parameter-sensitive", flag),
}}

// resultShape is the discriminated union of D 5.1: success or failure, distinguished
// by the member success.
type resultShape struct{}

// maxResultPlaces limits how deep results inside results are checked. No real batch
// nests so deeply; without a limit the pointers to the faults grow with the square of
// the depth.
const maxResultPlaces = 1000

func (resultShape) look(p *probe, at *place, v jsonv.Value, rule string) {
	if !p.is(jsonv.KindObject, at, v, "result.object") {
		return
	}
	switch success, _ := v.Get("success"); {
	case at.level() > maxResultPlaces:
		p.add("result.results-result", at, v, "results inside results, more than %d places deep", maxResultPlaces)
	case success.Kind() != jsonv.KindBool:
		p.add("result.success", at.member("success"), v, "expected true or false, got %s", evidence.Describe(success))
	case success.Bool():
		successResult().look(p, at, v, rule)
	default:
		failureResult.look(p, at, v, rule)
	}
}

// successResult is a function because results hold results.
func successResult() *objectShape {
	return &objectShape{closed: "result.success-members", metadata: "result.metadata", special: map[string]string{
		"halted_at": "result.batch-members", "pending_operations": "result.batch-members",
	}, fields: []fieldShape{
		required("success", "result.success", flag),
		required("data", "result.data", anything{}),
		may("warnings", "result.warnings", sequence{of: resultWarning, elemRule: "result.warning"}),
		may("_meta", "result.meta", resultMeta),
		may("results", "result.results", sequence{elemRule: "result.results-item", of: &objectShape{fields: []fieldShape{
			required("index", "result.results-index", amount{whole: true}),
			required("operation", "result.results-operation", anyText),
			required("result", "result.results-result", resultShape{}),
		}}}),
		may("summary", "result.summary", &objectShape{fields: []fieldShape{
			required("total", "result.summary-total", amount{whole: true}),
			required("succeeded", "result.summary-succeeded", amount{whole: true}),
			required("failed", "result.summary-failed", amount{whole: true}),
		}}),
	}}
}

var resultWarning = &objectShape{closed: "result.warning-members", fields: []fieldShape{
	required("code", "result.warning-code", code),
	required("message", "result.warning-message", anyText),
	may("details", "result.warning-details", anyObject),
	may("severity", "result.warning-severity", words{oneOf: []string{"low", "medium", "high"}}),
}}

var resultMeta = &objectShape{fields: []fieldShape{
	may("request_id", "result.meta-request-id", anyText),
	may("duration_ms", "result.meta-duration", amount{}),
}}

var failureResult = &objectShape{
	closed:   "result.failure-members",
	metadata: "result.metadata",
	special:  map[string]string{"_meta": "result.failure-meta"},
	fields: []fieldShape{
		required("success", "result.success", flag),
		required("error", "result.error", &objectShape{closed: "result.error-members", fields: []fieldShape{
			required("code", "result.error-code", code),
			required("message", "result.error-message", anyText),
			may("details", "result.error-details", anyObject),
		}}),
		may("confirmation", "result.confirmation", &objectShape{fields: []fieldShape{
			required("token", "result.confirmation-token", anyText),
			required("expires_at", "result.confirmation-expiry", words{is: isDateTime, want: "a date and time with its offset"}),
			may("message", "result.confirmation-message", anyText),
			may("reasons", "result.confirmation-reasons", texts),
		}}),
		may("deprecated", "result.deprecated", flag),
		may("deprecationMessage", "result.deprecation-message", anyText),
		may("deprecatedSince", "result.deprecated-since", anyText),
		may("removalVersion", "result.removal-version", anyText),
	},
}

// isDateTime accepts RFC 3339 and the additional forms that the prototype accepts:
// one white space in place of T, offsets without colon or minutes, and a leap second
// wherever UTC could have one.
func isDateTime(s string) bool {
	cut, size := -1, 0
	for i, r := range s {
		if r != 't' && r != 'T' && !reference.Blank(r) {
			continue
		}
		if cut >= 0 {
			return false
		}
		cut, size = i, len(string(r))
	}
	return cut >= 0 && isDate(s[:cut]) && isTime(s[cut+size:])
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

func isTime(s string) bool {
	m := timeOfDay().FindStringSubmatch(s)
	if m == nil {
		return false
	}
	hour, minute, sign := digits(m[1]), digits(m[2]), 1
	second, _ := strconv.ParseFloat(m[3], 64)
	offHour, offMinute := digits(m[6]), digits(m[7])
	if m[5] == "-" {
		sign = -1
	}
	if offHour > 23 || offMinute > 59 {
		return false
	}
	if hour <= 23 && minute <= 59 && second < 60 {
		return true
	}
	utcMinute := minute - sign*offMinute
	utcHour := hour - sign*offHour
	if utcMinute < 0 {
		utcHour--
	}
	return (utcHour == 23 || utcHour == -1) && (utcMinute == 59 || utcMinute == -1) && second < 61
}

func digits(s string) int {
	n, _ := strconv.Atoi(strings.TrimSpace(s))
	return n
}
