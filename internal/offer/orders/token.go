package orders

import (
	"strings"
	"unicode"
)

// token is a word of a clause.
type token struct {
	text string
	entry
}

func (t token) has(c class) bool { return t.is&c != 0 }

// clause is a part of a sentence with a verb of its own, as far as that can be seen.
type clause []token

// spellings has words that stand for several words with the same meaning: obligations, the
// beginnings of orders, and idioms of secrecy.
const spellings = `
cannot: can not
nobody: no one, no-one
you no must: you do not need to, you do not have to, you need not
never: under no circumstances, under no circumstance, at no point, in no way, by no means, in no case, at no time
notice: heads-up
must: have to, has to, had to, needs to, need to, ought to, is to, are to, supposed to, meant to, allowed to
must not: is forbidden to, are forbidden to, is prohibited from, are prohibited from, not permitted to
must not: is not to, are not to, need not, needs not, do not must, does not must
must never: is never to, are never to, need never
please: make sure to, be careful to, ensure that, ensure, it is important that, it is essential that
please: make sure, it would be best if, it would be better if, it is best if, it is better if
please: it is vital that, it is crucial that, it is important to, it is essential to, it is vital to
please: it is crucial to, make sure that, be sure to, take care to, see to it that, take care that, remember to
please: feel free to, try to
please not: try not to
please not: be careful not to, it is important not to, it is essential not to, it is vital not to, take care not to
do-so: do so, do this, do it, do that, do all this, do all of this
covertly: on the quiet, on the sly, under the radar, in secret, off the books, off the record, behind the curtain
covertly: below the radar, under the table
secret: under wraps
this is secret: for your eyes only
publicly: in public
regardless: no matter
quietly: behind the scenes
unaware: in the dark, out of the loop, none the wiser
invent: make up, think up, come up with
suspect: get wise, gets wise
be told: come to light, comes to light
reveal: let slip, let it slip, let that slip, let this slip, let on, give away, spill the beans
reveal it to anyone: draw attention, draw any attention, raise suspicion, raise any suspicion, arouse suspicion
keep silent: keep your mouth shut, hold your tongue, keep your lips sealed
without the user noticing: without a trace, without leaving a trace
tell: tip off, make aware
never tell anyone: breathe not a word
never tell: not a word, no word to
admit: own up
talk: make a fuss
mention: bring up, point out
mentioned: brought up, pointed out
told: made aware
know: be aware
learn: become aware, find out
telling anyone: drawing attention, drawing any attention, raising suspicion, arousing suspicion, a word, a single word, one word
not know: no idea, no clue
deceived: led to believe, made to believe
`

// asides stand between commas in the middle of an order.
var asides = []string{
	"under any circumstances", "in any circumstances", "under no circumstances", "in any case", "at any time",
	"at any point", "whatever happens", "please", "ever",
}

// newRespeller returns what replaces the words of the table, and contractions.
func newRespeller() *strings.Replacer {
	pairs := []string{"’", "'", "n't ", " not ", "'ll ", " will ", "'re ", " are "}
	for _, aside := range asides { // they would divide "do not, under any circumstances, say"
		pairs = append(pairs, " , "+aside+" , ", " ever ")
	}
	for line := range strings.Lines(strings.TrimSpace(spellings)) {
		word, list, _ := strings.Cut(strings.TrimSpace(line), ":")
		for part := range strings.SplitSeq(list, ",") {
			pairs = append(pairs, " "+strings.TrimSpace(part)+" ", " "+word+" ")
		}
	}
	return strings.NewReplacer(pairs...)
}

// reading is what is needed to divide texts into words.
type reading struct {
	words    map[string]entry
	spelling *strings.Replacer
}

// addSpaces returns a text with blanks around its punctuation.
func addSpaces(text string) string {
	var b strings.Builder
	for _, c := range text {
		if strings.ContainsRune(",:;—().", c) {
			b.WriteString(" " + string(c) + " ")
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

// longestClause bounds the words of a clause, because the time of some checks grows with the
// square of its length. Nobody writes longer ones.
const longestClause = 300

// splitClauses divides a sentence at commas, colons, dashes, and words that begin a clause.
func (r *reading) splitClauses(sentence string) (out []clause) {
	// Twice, because two neighbors share a blank.
	text := " " + strings.Join(strings.Fields(addSpaces(strings.ToLower(sentence))), " ") + " "
	text = r.spelling.Replace(r.spelling.Replace(text))
	for _, part := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(",:;—()\"“”", c) }) {
		var one clause
		words := strings.FieldsFunc(part, func(c rune) bool {
			return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '-' && c != '_' && c != '\''
		})
		for i, word := range words {
			if word == "and" && r.continues(words[i+1:]) {
				continue
			}
			word = strings.TrimSuffix(strings.Trim(word, "'-"), "'s")
			if word == "but" && len(one) > 0 && one[len(one)-1].has(nobody) { // nobody but you
				continue
			}
			begins := word == "and" || word == "but" || word == "then"
			if (begins || len(one) == longestClause) && len(one) > 0 {
				out, one = append(out, one), nil
			}
			if !begins && word != "" {
				one = append(one, token{word, r.words[word]})
			}
		}
		if len(one) > 0 {
			out = append(out, one)
		}
	}
	return out
}

// continues reports whether words after "and" have the subject before it: "and must not be
// shown".
func (r *reading) continues(words []string) bool {
	return len(words) > 1 && r.words[words[0]].is&must != 0 && r.words[words[1]].is&negation != 0
}

// first returns the first words of a clause, n of them or fewer.
func (c clause) first(n int) clause { return c[:min(n, len(c))] }

// find returns the place of the first word of a class from a place on, -1 if there is none.
func (c clause) find(from int, of class) int {
	for i := max(from, 0); i < len(c); i++ {
		if c[i].has(of) {
			return i
		}
	}
	return -1
}

// isWithin reports whether a class occurs among the next words.
func (c clause) isWithin(from, n int, of class) bool {
	return c[:min(from+n, len(c))].find(from, of) >= 0
}

// hasWord reports whether a clause has one of some words.
func (c clause) hasWord(words string) bool {
	for _, t := range c {
		if t.isOne(words) {
			return true
		}
	}
	return false
}

// isOne reports whether a word is one of some.
// It is asked of every word of a description some hundred times, so it allocates nothing.
func (t token) isOne(words string) bool {
	if t.text == "" {
		return false
	}
	for from := 0; ; {
		at := strings.Index(words[from:], t.text)
		if at < 0 {
			return false
		}
		start, end := from+at, from+at+len(t.text)
		if (start == 0 || words[start-1] == ' ') && (end == len(words) || words[end] == ' ') {
			return true
		}
		from = end
	}
}

// openers are words before the verb of an order.
const openers = "shall must should please always also simply just never do not ever afterwards first instead so quietly silently secretly to " +
	"discreetly covertly it is important that therefore otherwise only strictly then you are expected"

// orderers are openers after which an unknown word is a verb.
const orderers = "shall must should please not never always secretly covertly quietly silently discreetly"

// findOrder returns the place of the verb with which a clause orders something: the base form at
// its beginning, or after "you must"; -1 if it orders nothing.
func (c clause) findOrder() int {
	i := 0
	if c[0].text == "to" {
		return -1 // to hide it, set …
	}
	if len(c) > 1 && c.findAddressed() > 0 {
		i = c.findAddressed()
	}
	for i < len(c) && (c[i].isOne(openers) || strings.HasSuffix(c[i].text, "ly")) {
		i++
	}
	switch {
	case i >= len(c):
		return -1
	case c[i].base != 0 || c[i].text == "do-so" || c.isBare(i):
		return i
	case i > 0 && c[i-1].isOne(orderers) && c[i].is == 0 && !strings.HasSuffix(c[i].text, "s"):
		return i
	}
	return -1
}

// determiners begin the object of a verb.
const determiners = "the a an it them this that these those your all every any each his her their its one both what whatever"

// isBare reports whether a word that the lexicon lacks is the base form of a verb: it stands
// before an object, and has the ending of no other form.
func (c clause) isBare(i int) bool {
	word := c[i].text
	for _, ending := range []string{"s", "ing", "ed", "ly"} {
		if strings.HasSuffix(word, ending) {
			return false
		}
	}
	function := c[i].isOne(determiners + " if when in on at for with to of by from as is are was were there here he she we they i you " +
		"because since while where which who not no or than also only unless until before after during per via")
	return !function && c[i].is&(who|nobody|model|must|negation) == 0 && i+1 < len(c) && c[i+1].isOne(determiners+" up")
}

// findAddressed returns the place after "you must", "the assistant shall", 0 if a clause does not
// begin so.
func (c clause) findAddressed() int {
	for i := range min(len(c), 4) {
		if c[i].base != 0 {
			return 0 // say that you could not
		}
		if !c[i].has(model) || i+1 >= len(c) {
			continue
		}
		next := c[i+1]
		if next.has(must) || next.isOne("will may can could are") {
			return i + 2
		}
	}
	return 0
}
