package surface

import (
	"regexp"

	"mcptest/internal/base/lazy"
)

// expression finds the expressions of a template (RFC 6570).
var expression = lazy.Regexp(`\{[^{}]*\}`)

// TemplatePattern matches the URIs that a template may expand to, and perhaps more.
func TemplatePattern(template string) *regexp.Regexp {
	expr, at := "^", 0
	for _, span := range expression().FindAllStringIndex(template, -1) {
		expr += regexp.QuoteMeta(template[at:span[0]])
		if one := template[span[0]+1]; one == '+' || one == '#' || one == '/' || one == '?' || one == '&' {
			expr += `.*`
		} else {
			expr += `[^/]*`
		}
		at = span[1]
	}
	return regexp.MustCompile(expr + regexp.QuoteMeta(template[at:]) + "$")
}
