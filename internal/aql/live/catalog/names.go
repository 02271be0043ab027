package catalog

import (
	"slices"
	"strings"
	"unicode"
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

// Names that suggest an action. An adapter's declaration is only a claim, and a run
// that must not change anything leaves out an operation rather than risk it.

var (
	actionVerbs = strings.Fields("open launch start stop send sync install setup configure auth login logout connect activate deactivate " +
		"submit publish deploy run execute trigger clear upload confirm approve " +
		// Other verbs that were observed to act.
		"write put move pay book cancel reboot restart shutdown increment decrement mark archive unarchive restore revoke grant ban unban " +
		"transfer refund charge buy purchase push apply assign unassign append attach detach enable disable lock unlock mount unmount kick " +
		"invite notify schedule reschedule replace save swap undo redo upsert exec invoke disconnect reject accept pause resume retry enqueue " +
		"dequeue commit rollback migrate rotate subscribe unsubscribe")
	removalVerbs = strings.Fields("erase drop destroy purge wipe truncate kill rm del unlink format terminate abort forget prune evict flush empty " +
		"uninstall discard shred overwrite")
)

// ActsByName returns the risk of an operation that is declared READ but has a name
// that suggests otherwise, 0 for any other. A verb counts at the beginning of a name
// and after "and" or "then"; elsewhere it may be a noun.
func (o *Operation) ActsByName() int {
	if o.Category != "READ" {
		return RiskRead
	}
	risk := RiskRead
	words := nameWords(o.Name)
	for i, word := range words {
		if i > 0 && !slices.Contains([]string{"and", "then", "or"}, words[i-1]) {
			continue
		}
		verb := verbOf(word)
		switch {
		case verb == "delete", slices.Contains(removalVerbs, word):
			risk = max(risk, RiskDelete)
		case verb == "create", verb == "update", slices.Contains(actionVerbs, word):
			risk = max(risk, RiskWrite)
		}
	}
	return risk
}

// nameWords returns the words of a name in any spelling: delete_book, delete-book,
// deleteBook.
func nameWords(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			b.WriteByte(' ')
		case lower && unicode.IsUpper(r):
			b.WriteByte(' ')
			fallthrough
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		lower = unicode.IsLower(r)
	}
	return strings.Fields(b.String())
}
