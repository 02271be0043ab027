package gen

import (
	"slices"
	"strings"

	"mcptest/internal/assert/target"
	"mcptest/internal/base/source"
)

// Find returns the topics that a user's word names: by name or alias, a key
// also by the end of its place (run_options.timeout) or in snake case, a root
// also by a target that starts with it, a matcher also by a key of its argument
// (tolerance).
func Find(topics []Topic, word string) []Topic {
	word = strings.TrimSpace(word)
	if strings.HasPrefix(word, "$") || strings.ContainsAny(word, "[(.") {
		if t, err := target.Parse(word); err == nil {
			return findRoot(topics, t.Root())
		}
	}
	for _, find := range []func([]Topic, string) []Topic{
		findNamed, findPlaced, findExplained, findInKebabCase, findByArgument, findInCamelCase,
	} {
		if found := find(topics, word); len(found) > 0 {
			return found
		}
	}
	return []Topic{}
}

// findRoot returns the topic of a root of targets.
func findRoot(topics []Topic, name string) []Topic {
	return filter(topics, func(t Topic) bool { return t.Kind == "target root" && t.Name == name })
}

// findInKebabCase returns the topics of a word in snake case that is written with hyphens.
func findInKebabCase(topics []Topic, word string) []Topic {
	kebab := strings.ReplaceAll(word, "_", "-")
	if kebab == word {
		return nil
	}
	return Find(topics, kebab)
}

// findInCamelCase returns the topics of a word in snake case that is written in camel case.
func findInCamelCase(topics []Topic, word string) []Topic {
	before, after, found := strings.Cut(word, "_")
	if !found || before == "" || after == "" {
		return nil
	}
	return Find(topics, before+strings.ToUpper(after[:1])+after[1:])
}

// findNamed returns the topics with a name or an alias. Keys are of many places, so they come
// last.
func findNamed(topics []Topic, name string) []Topic {
	found := filter(topics, func(t Topic) bool { return t.Name == name || slices.Contains(t.Aliases, name) })
	if len(found) == 0 {
		return found
	}
	ofMocks := filter(found, func(t Topic) bool { return t.Kind == mockKey })
	if len(ofMocks) == len(found) {
		found = append(findByArgument(topics, name), found...) // suites before mocks
	}
	keys := filter(found, Topic.isKey)
	others := filter(found, func(t Topic) bool { return !t.isKey() })
	return slices.Concat(others, keys)
}

// findExplained returns the keys that explain a key below them in their text: variants, of
// variants.from.
func findExplained(topics []Topic, place string) []Topic {
	i := strings.LastIndexByte(place, '.')
	if i <= 0 {
		return nil
	}
	return filter(findPlaced(topics, place[:i]), func(t Topic) bool {
		return strings.Contains(t.Doc, " "+place[i+1:]+":")
	})
}

// findByArgument returns the matchers whose argument has a key.
func findByArgument(topics []Topic, key string) []Topic {
	return filter(topics, func(t Topic) bool {
		return t.Kind == "matcher" && slices.Contains(t.arguments, key)
	})
}

// findPlaced returns the keys whose place ends with a word.
func findPlaced(topics []Topic, word string) []Topic {
	return filter(topics, func(t Topic) bool {
		if !t.isKey() {
			return false
		}
		for _, where := range t.places {
			where = strings.NewReplacer("[]", "", ".<name>", "").Replace(where)
			if where == word || strings.HasSuffix(where, "."+word) {
				return true
			}
		}
		return false
	})
}

// Mentions returns the keys of the mock server's file of which a word is a part, or that
// name it in their description, such as a header: of a word that is no key.
func Mentions(topics []Topic, word string) []Topic {
	const most = 5
	parts := func(r rune) bool { return r == '_' || r == '-' }
	found := filter(topics, func(t Topic) bool {
		if t.Kind != mockKey {
			return false
		}
		words := strings.FieldsFunc(strings.ToLower(t.Doc), func(r rune) bool {
			return r == ' ' || strings.ContainsRune(",.;:()[]{}<>", r)
		})
		return slices.Contains(strings.FieldsFunc(t.Name, parts), word) || slices.Contains(words, strings.ToLower(word))
	})
	if len(found) > most {
		return nil
	}
	return found
}

// Nearest returns the name that a misspelt word may have meant, "" when there
// is none.
func Nearest(topics []Topic, word string) string {
	var names []string
	for _, t := range topics {
		names = append(append(names, t.Name), t.Aliases...)
	}
	return source.FindNearest(word, names)
}

// Names lists the names of the topics of a kind, each once.
func Names(topics []Topic, kind string) []string {
	var out []string
	for _, t := range topics {
		if t.Kind == kind && !slices.Contains(out, t.Name) {
			out = append(out, t.Name)
		}
	}
	return out
}

func filter(topics []Topic, keep func(Topic) bool) []Topic {
	kept := []Topic{}
	for _, t := range topics {
		if keep(t) {
			kept = append(kept, t)
		}
	}
	return kept
}
