package orders

import "strings"

// Reader finds orders in texts.
type Reader struct{ reading }

// NewReader returns a Reader.
func NewReader() *Reader { return &Reader{reading{buildLexicon(), newRespeller()}} }

// Hides returns what a text orders to hide, in one word for its form, or "".
func (r *Reader) Hides(text string) string {
	for _, sentence := range splitSentences(dropQuoted(text)) {
		if why := r.readSentence(sentence); why != "" {
			return why
		}
	}
	return ""
}

// dropQuoted returns a text without what it quotes, which is no order.
func dropQuoted(text string) string {
	parts := strings.Split(strings.NewReplacer("“", "\"", "”", "\"", "`", "\"").Replace(text), "\"")
	var b strings.Builder
	for i := 0; i < len(parts); i += 2 {
		b.WriteString(parts[i] + " ")
	}
	return b.String()
}

// splitSentences divides a text.
func splitSentences(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(".!?\n。！？", c) })
}

// readSentence returns the form in which a sentence orders to hide something, or "".
func (r *Reader) readSentence(text string) string {
	if why := findForeign(strings.ToLower(text)); why != "" {
		return why
	}
	all := r.splitClauses(text)
	if deceivesWhenAsked(all) {
		return "deceit when asked"
	}
	orders := false
	for _, c := range all {
		orders = orders || c.findOrder() >= 0 || c.findAddressed() > 0 || c.find(0, must) > 0
	}
	if skipsWhenReporting(all) {
		return "no trace"
	}
	if staysThatWay(all) {
		return "not to know"
	}
	for _, c := range all {
		switch {
		case len(c) == 1 && orders && c[0].isOne("discreetly quietly silently secretly"):
			return "in secret"
		case orders && c[0].text == "pretending":
			return "deceit"
		case c.avoidsSuspicion():
			return "not to know"
		case c.forbidsTelling() && !offersOther(all, c):
			return "not to tell"
		case c.keepsUnaware(orders):
			return "not to know"
		case c.hides():
			return "to hide"
		case c.isInSecret(orders):
			return "in secret"
		case c.staysSecret():
			return "a secret"
		case c.leavesOut():
			return "no trace"
		}
	}
	if deceives(all) {
		return "deceit"
	}
	return ""
}
