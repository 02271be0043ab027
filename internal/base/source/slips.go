package source

import (
	"slices"
	"strings"
)

// SplitUnspaced returns the name and the value of a key that was written without a blank after its
// colon, as in {city:Berlin}: YAML reads one key, without a value.
func SplitUnspaced(key, value *Node) (name, rest string, ok bool) {
	if key.Quoted || value == nil || value.Kind != KindNull || value.Text != "" {
		return "", "", false
	}
	name, rest, ok = strings.Cut(key.Text, ":")
	if !ok || name == "" || rest == "" {
		return "", "", false
	}
	isURL := strings.HasPrefix(rest, "//")
	if isURL || strings.Contains(name, " ") {
		return "", "", false
	}
	return name, strings.TrimLeft(rest, ":"), true
}

// SpacedHint says how a pair is written.
func SpacedHint(name, rest string) string {
	return `a blank follows the ":": ` + name + ": " + rest
}

// GuessKey returns the known name that an unknown key stands for because of a slip that the
// eye does not see, with a hint: no blank after its colon, or letters of another alphabet.
func GuessKey(key, value *Node, names []string) (name, hint string) {
	known := func(name string) bool { return slices.Contains(names, name) }
	if word, rest, ok := SplitUnspaced(key, value); ok {
		if near := FindNearest(word, names); near != "" && !known(word) {
			word = near
		}
		if known(word) {
			return word, SpacedHint(word, rest)
		}
	}
	if mixed := DescribeMixedLetters(key.Text); mixed != "" && known(Latin(key.Text)) {
		return Latin(key.Text), "write " + Latin(key.Text) + ": " + mixed
	}
	return "", ""
}
