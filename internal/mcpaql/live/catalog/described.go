package catalog

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"mcptest/internal/mcpaql/evidence"
)

// A description may document facts about a parameter that appear nowhere else in the
// introspection: the accepted words, or the members of an object. A value that
// contradicts it is not sent as a valid one.

// listedWords match the words that a description lists as the only ones.
var listedWords = []func() *regexp.Regexp{
	evidence.Pattern(`(?i)\b(?:one of|either|(?:allowed|valid|possible|accepted|supported)(?: values)?|values)(?: are| is)?\s*:?\s*((?:["'\x60]?[\w-]+["'\x60]?(?:\s*[,|/]\s*(?:or |and )?|\s+or\s+|\s+and\s+))+["'\x60]?[\w-]+["'\x60]?)`),
	evidence.Pattern(`["'\x60][\w-]+["'\x60](?:(?:\s*[,|/]\s*(?:or |and )?|\s+or\s+|\s+and\s+)["'\x60][\w-]+["'\x60])+`),
	evidence.Pattern(`\b[\w-]+(?:\s*\|\s*[\w-]+)+`),
	evidence.Pattern(`\(([\w-]+(?:\s*[,/]\s*(?:or )?[\w-]+)+)\)`),
	evidence.Pattern(`^(?:[^:.]*:)?\W*([\w-]+(?:\s*,\s*[\w-]+)*,?\s+or\s+[\w-]+)\W*$`),
	evidence.Pattern(`^(?:[^:.]*:)?\W*([a-z][\w-]*(?:\s*,\s*[a-z][\w-]*){2,})\W*$`),
}

var givesExamples = evidence.Pattern(`(?i)\be\.g\.|\bsuch as\b|\bexamples?\b|\blike\b`)

// fillers are words that stand in lists of words without being one of them.
var fillers = []string{"or", "and", "optional", "required", "string", "text", "either", "default", "e", "g", "i"}

// findDescribedWord returns a word that the description of a text parameter lists, "" if
// it lists none.
func findDescribedWord(p Parameter) string {
	if givesExamples().MatchString(p.Doc) {
		return ""
	}
	for _, list := range listedWords {
		m := list().FindStringSubmatch(p.Doc)
		if m == nil {
			continue
		}
		isSeparator := func(r rune) bool {
			return !evidence.IsWordRune(r) && r != '-'
		}
		for _, word := range strings.FieldsFunc(m[len(m)-1], isSeparator) {
			if !slices.Contains(fillers, strings.ToLower(word)) {
				return word
			}
		}
	}
	return ""
}

// describesMembers matches the beginning of a list of an object's members in a
// description.
var describesMembers = evidence.Pattern(`(?i)[{:=]|\b(with|fields|keys|members|properties|attributes|containing|contains|consisting|includ(es|ing)|must|required|e\.g\.|such as)\b`)

// givenToken matches the names of parameters whose value only the adapter knows.
var givenToken = evidence.Pattern(`(?i)(^|_)(confirmation|continuation|resume|page|next|previous|session|challenge|csrf)_?token$|^(etag|if_match|nonce|cursor)$|^_confirmation$`)

// ErrGivenValue reports a parameter for which no value can be generated.
var ErrGivenValue = errors.New("only the adapter knows its value; --values provides one")

// refuseUnknowable returns why no value is generated for a parameter; nil if one is.
func refuseUnknowable(p Parameter, kind string) error {
	switch {
	case kind == "string" && givenToken().MatchString(p.Name):
		return ErrGivenValue
	case kind == "object" && p.describesMembersOnly():
		return errors.New("its description lists members that are not documented elsewhere; --values provides one")
	}
	return nil
}

// describesMembersOnly reports whether the members of an object are in its description and
// not in its schema.
func (p Parameter) describesMembersOnly() bool {
	return p.Schema.Lookup("properties").IsAbsent() && describesMembers().MatchString(p.Doc)
}
