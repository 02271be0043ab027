package catalog

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"mcptest/internal/mcpaql/evidence"
)

// ParseStem returns the resource that a parameter's name refers to: book for book_id, ""
// if it refers to none.
func ParseStem(param string) string {
	if s, ok := strings.CutSuffix(param, "_id"); ok {
		return s
	}
	return ""
}

// IsSameResource compares resource names, ignoring the plural.
func IsSameResource(a, b string) bool {
	if a == b {
		return true
	}
	singulars := listSingulars(b)
	return slices.ContainsFunc(listSingulars(a), func(s string) bool { return slices.Contains(singulars, s) })
}

func listSingulars(s string) []string {
	endings := [][2]string{
		{"ies", "y"},
		{"ves", "f"},
		{"ves", "fe"},
		{"es", ""},
		{"s", ""},
	}
	out := []string{s}
	for _, e := range endings {
		if stem, ok := strings.CutSuffix(s, e[0]); ok && stem != "" {
			out = append(out, stem+e[1])
		}
	}
	return out
}

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
	return cmp.Or(verbs[word], word), rest
}

var camelCase = evidence.Pattern(`(\p{Ll})(\p{Lu})`)

// listWords returns the words of a name in any spelling: delete_book, delete-book,
// deleteBook.
func listWords(name string) []string {
	spaced := camelCase().ReplaceAllString(name, "$1 $2")
	isSeparator := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	return strings.FieldsFunc(strings.ToLower(spaced), isSeparator)
}

var (
	actionVerbs = strings.Fields("open launch start stop send sync install setup configure auth login logout connect activate deactivate " +
		"submit publish deploy run execute trigger clear upload confirm approve " +
		// Other verbs that were observed to act.
		"write put move pay book cancel reboot restart shutdown increment decrement mark archive unarchive restore revoke grant ban unban " +
		"transfer refund charge buy purchase push apply assign unassign append attach detach enable disable lock unlock mount unmount kick " +
		"invite notify schedule reschedule replace save swap undo redo upsert exec invoke disconnect reject accept pause resume retry enqueue " +
		"dequeue commit rollback migrate rotate subscribe unsubscribe " +
		"pop consume take next claim ack drain expunge visit touch tidy refresh")
	removalVerbs = strings.Fields("erase drop destroy purge wipe truncate kill rm del unlink format terminate abort forget prune evict flush empty " +
		"uninstall discard shred overwrite")
)
