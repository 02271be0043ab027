package catalog

import (
	"slices"
	"strings"
)

// Operations that belong together are found by their names: a verb, an
// underscore, a resource.

var verbs = map[string][]string{
	"create": {"create", "add", "register", "insert", "upload", "import"},
	"get":    {"get", "read", "fetch", "show"},
	"list":   {"list", "search", "find", "query"},
	"update": {"update", "edit", "patch", "modify", "set", "rename"},
	"delete": {"delete", "remove", "unregister", "clear"},
}

// SplitName reads create_book as the verb "create" and the resource "book".
// An unknown verb represents itself.
func SplitName(name string) (verb, resource string) {
	word, rest, ok := strings.Cut(name, "_")
	if !ok {
		return "", name
	}
	if v := verbOf(word); v != "" {
		return v, rest
	}
	return word, rest
}

// verbOf returns the verb of which a word is a synonym, "" if there is none.
func verbOf(word string) string {
	for v, words := range verbs {
		if slices.Contains(words, word) {
			return v
		}
	}
	return ""
}

// SameResource compares resource names, ignoring the plural.
func SameResource(a, b string) bool {
	if a == b {
		return true
	}
	return slices.ContainsFunc(singulars(a), func(s string) bool { return slices.Contains(singulars(b), s) })
}

func singulars(s string) []string {
	out := []string{s}
	for _, p := range [][2]string{{"ies", "y"}, {"ves", "f"}, {"ves", "fe"}, {"es", ""}, {"s", ""}} {
		if stem, ok := strings.CutSuffix(s, p[0]); ok && stem != "" {
			out = append(out, stem+p[1])
		}
	}
	return out
}
