package suite

import (
	"fmt"
	"strings"
)

// ShowTemplate writes the parts of a template: literals in quotes,
// placeholders as name or name=default.
func ShowTemplate(text string) (string, error) {
	parts, bad := splitTemplate(text)
	if bad != nil {
		return "", fmt.Errorf("%d: %s", bad.offset, bad.msg)
	}
	return showParts(parts), nil
}

func showParts(parts []part) string {
	var out []string
	for _, p := range parts {
		switch {
		case p.name == "":
			out = append(out, fmt.Sprintf("%q", p.text))
		case p.hasDef:
			out = append(out, p.name+"=("+showParts(p.def)+")")
		default:
			out = append(out, p.name)
		}
	}
	return strings.Join(out, " ")
}

// TemplateOffsets returns the spelling of each placeholder and where it
// is, defaults included.
func TemplateOffsets(text string) (spellings []string, offsets []int) {
	parts, bad := splitTemplate(text)
	if bad != nil {
		return nil, nil
	}
	names(parts, func(p part) {
		spellings, offsets = append(spellings, p.text), append(offsets, p.offset)
	})
	return spellings, offsets
}
