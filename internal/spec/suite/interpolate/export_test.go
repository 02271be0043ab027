package interpolate

import (
	"fmt"
	"strings"

	"mcptest/internal/base/placeholder"
)

// ShowTemplate writes the parts of a template: literals in quotes,
// placeholders as name or name=default.
func ShowTemplate(text string) (string, error) {
	parts, bad := splitTemplate(text)
	if bad != nil {
		return "", fmt.Errorf("%d: %s", bad.Offset, bad.Msg)
	}
	return showParts(parts), nil
}

func showParts(parts []placeholder.Part) string {
	var out []string
	for _, p := range parts {
		switch {
		case p.Literal:
			out = append(out, fmt.Sprintf("%q", p.Text))
		case p.HasDefault:
			out = append(out, p.Name+"=("+showParts(p.Default)+")")
		default:
			out = append(out, p.Name)
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
	placeholder.Each(parts, func(p placeholder.Part) {
		spellings, offsets = append(spellings, p.Text), append(offsets, p.Offset)
	})
	return spellings, offsets
}
