package catalog

import (
	"slices"
	"strings"
	"unicode"

	"mcptest/internal/aql/evidence"
)

// Operations that belong together are found by their names: a verb, an
// underscore, a resource.

// verbs holds the verb of which a word is a synonym.
var verbs = map[string]string{
	"create": "create", "add": "create", "register": "create", "insert": "create", "upload": "create", "import": "create",
	"get": "get", "read": "get", "fetch": "get", "show": "get",
	"list": "list", "search": "list", "find": "list", "query": "list",
	"update": "update", "edit": "update", "patch": "update", "modify": "update", "set": "update", "rename": "update",
	"delete": "delete", "remove": "delete", "unregister": "delete", "clear": "delete",
}

// SplitName reads create_book as the verb "create" and the resource "book".
// An unknown verb represents itself.
func SplitName(name string) (verb, resource string) {
	word, rest, ok := strings.Cut(name, "_")
	if !ok {
		return "", name
	}
	if v := verbs[word]; v != "" {
		return v, rest
	}
	return word, rest
}

// SameResource compares resource names, ignoring the plural.
func SameResource(a, b string) bool {
	return a == b || slices.ContainsFunc(singulars(a), func(s string) bool { return slices.Contains(singulars(b), s) })
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
		verb := verbs[word]
		switch {
		case verb == "delete", slices.Contains(removalVerbs, word):
			risk = max(risk, RiskDelete)
		case verb == "create", verb == "update", slices.Contains(actionVerbs, word):
			risk = max(risk, RiskWrite)
		}
	}
	return risk
}

var camelCase = evidence.Pattern(`(\p{Ll})(\p{Lu})`)

// nameWords returns the words of a name in any spelling: delete_book, delete-book,
// deleteBook.
func nameWords(name string) []string {
	spaced := camelCase().ReplaceAllString(name, "$1 $2")
	return strings.FieldsFunc(strings.ToLower(spaced), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
