package compat

import (
	"slices"
	"strings"
	"unicode"

	"mcptest/internal/secret"
)

// credentialValues finds the values that are masked in other outputs: values under
// the names of credentials, in URLs, and after authorization schemes. Examples
// without digits, such as user:password, are skipped.
func credentialValues(l List) []place {
	mask := secret.NewRedactor()
	return faulty(l.texts(read), func(p place) string {
		var found secret.Found
		mask.Collect(p.value.Text(), &found)
		if strings.HasSuffix(p.pointer, "/name") || !slices.ContainsFunc(found.All(), mixed) {
			return ""
		}
		return secret.Mask
	})
}

// mixed reports whether a value has at least 12 characters, including uppercase and
// lowercase letters and digits.
func mixed(v string) bool {
	return len(v) >= 12 && !strings.Contains(v, "EXAMPLE") && strings.ContainsFunc(v, unicode.IsUpper) &&
		strings.ContainsFunc(v, unicode.IsLower) && strings.ContainsFunc(v, unicode.IsDigit)
}
