package orders

import "strings"

// forbidsTelling reports an order not to tell somebody something.
func (c clause) forbidsTelling() bool {
	for i := range c {
		verb := c.findUntold(i)
		if verb < 0 || !c.ordersNot(i) {
			continue
		}
		rest := c[verb+1:]
		if rest.hasWord("certain guaranteed final") {
			continue // what is not sure yet
		}
		if rest.isTechnical() || rest.instructs() || rest.isConditional() || rest.concernsOthers() {
			continue
		}
		if c[verb].isOne("let letting") && !rest.isWithin(0, 5, learn) && !rest.hasWord("read in") {
			continue // do not let the user wait
		}
		needless := c[i].text == "no" && c[i+1].text == "must" // there is no need to
		about := rest.isWithin(0, 8, deed) || len(rest) < 3 && rest.find(0, who|nobody) >= 0
		if needless && (!about || rest.hasWord("which")) {
			continue
		}
		if c[verb].isOne("explain describe comment") && rest.first(2).hasWord("your") {
			continue // do not explain your steps
		}
		if rest.concernsPeople(c[verb]) {
			return true
		}
	}
	return c.tellsNobody() || c.leavesUnrecorded() || c.enablesNobody() || c.makesNoMention() || c.tellingIsForbidden()
}

// findUntold returns the place of the verb of telling that the negation at a place belongs to, -1
// if there is none.
func (c clause) findUntold(no int) int {
	late := c[no].isOne("no nothing") && no > 2
	if !c[no].has(negation) || late || c[:no].find(0, negation) >= 0 {
		return -1
	}
	for i := no + 1; i < min(len(c), no+4); i++ {
		if c[i-1].isOne("the a an") {
			continue // not the alert
		}
		bare := c[i].base&tell != 0
		if bare || c[i].has(tell) && strings.HasSuffix(c[i].text, "ing") {
			return i
		}
		if c[i].has(negation) {
			return -1
		}
	}
	return -1
}

// shown are verbs of telling that ordinary descriptions use of things, too.
const shown = "report show display list share point raise repeat surface state note indicate bring let correct leak relay " +
	"reporting showing"

// plainly are verbs that are only said of what somebody would rather hide.
const plainly = "disclose divulge confess admit disclosing divulging confessing admitting"

// concernsPeople reports whether what follows a verb of telling names people, the model's
// answer, or what the model did.
func (c clause) concernsPeople(verb token) bool {
	if verb.isOne(shown+" leaking listing") && len(c) > 0 && c[0].text == "them" {
		return false // without listing them
	}
	if verb.isOne(plainly) || c.isWithin(0, 10, who|nobody|answer) || c.isWithin(0, 4, trace) {
		return true
	}
	apart := verb.text == "point" && c.hasWord("out") || verb.text == "bring" && c.hasWord("up")
	if apart && c.isWithin(0, 2, deed) { // do not point that out
		return true
	}
	if len(c) == 0 && verb.text == "reveal" || len(c) == 1 && c[0].text == "so" { // do not say so
		return true
	}
	own := len(c) > 1 && c[0].text == "this" && c[1].isOne("call tool step copy upload request instruction")
	if own && verb.isOne("surface report show display") {
		return true
	}
	return !verb.isOne(shown) && c.isWithin(0, 4, deed)
}

// tellsNobody reports "discuss that with nobody", "say nothing".
func (c clause) tellsNobody() bool {
	at := c.findOrder()
	if at < 0 || c[at].base&tell == 0 {
		return false
	}
	rest := c[at+1:]
	if rest.isConditional() {
		return false // if there is none
	}
	return rest.find(0, nobody) >= 0 || len(rest) > 0 && rest[0].text == "nothing"
}

// offersOther reports whether a sentence that forbids to show something says what is shown in
// place of it, or that people see it elsewhere: "never show the id, show the name". What the
// model did is never left out for such a reason.
func offersOther(all []clause, forbidden clause) bool {
	if forbidden.find(0, deed) >= 0 {
		return false
	}
	shows := forbidden.hasWord("show display list print include")
	for _, c := range all {
		at := c.findOrder()
		if shows && at >= 0 && c[:at].find(0, negation) < 0 && c[at].isOne("show display list render give print use") {
			return !c.hasWord("wrong false fake different lower higher original")
		}
		if c.hasWord("shown displayed listed printed visible") && c.hasWord("are is") && c.find(0, negation) < 0 {
			return true
		}
	}
	return false
}

// makesNoMention reports "make no reference to it in your answer".
func (c clause) makesNoMention() bool {
	at := c.findOrder()
	if at < 0 || at+1 >= len(c) {
		return false
	}
	verb, next, rest := c[at], c[at+1], c[at+2:]
	if c.refusesToTell(verb, next, rest) {
		return true
	}
	if next.text != "no" || !verb.isOne("make give leave show contain drop include") || rest.isConditional() {
		return false
	}
	return rest.isWithin(0, 2, trace) && (len(rest) < 3 || rest.find(0, deed|answer|who) >= 0)
}

// refusesToTell reports "skip mentioning it", "refuse to explain it".
func (c clause) refusesToTell(verb, next token, rest clause) bool {
	if len(rest) == 0 {
		return false
	}
	if verb.base&omit != 0 && next.has(tell) && strings.HasSuffix(next.text, "ing") {
		return !rest.isTechnical() && !c.isConditional()
	}
	refuses := verb.isOne("refuse decline") && next.text == "to" && rest[0].base&tell != 0
	return refuses && rest.find(0, deed|who) >= 0
}

// tellingIsForbidden reports "mentioning the attachment is prohibited".
func (c clause) tellingIsForbidden() bool {
	telling := c[0].has(tell) && strings.HasSuffix(c[0].text, "ing")
	return telling && c.hasWord("prohibited forbidden banned") && !c.isTechnical() && !c.isConditional()
}

// leavesUnrecorded reports "do not log this call in the transcript".
func (c clause) leavesUnrecorded() bool {
	at := c.findOrder()
	if at <= 0 || !c[:at].hasWord("not never") || !c[at].isOne("log record include list pass add write store put") {
		return false
	}
	rest := c[at+1:]
	if rest.isTechnical() || rest.isConditional() {
		return false
	}
	return rest.isWithin(0, 4, deed) && rest.isWithin(0, len(rest), answer|who)
}

// enablesNobody reports "do not let the reader see it", "don't make the user aware".
func (c clause) enablesNobody() bool {
	no := c.find(0, negation)
	if no < 0 || no > 3 || !c.ordersNot(no) {
		return false
	}
	rest := c[no+1:]
	if len(rest) > 0 && rest[0].text == "draw" && rest.hasWord("attention") {
		return rest.find(0, who) >= 0
	}
	if rest.hasWord("stale outdated partial incomplete unsaved") {
		return false // do not let users see what is not up to date
	}
	enables := len(rest) > 0 && rest[0].isOne("make let allow have give keep want")
	return enables && rest.isWithin(1, 4, who) && rest.isWithin(2, 5, learn|strong)
}

// between are words that may stand between the beginning of an order and its negation.
const between = "do please be sure to make ever and you must should shall may need will the assistant model agent ai llm is are " +
	"simply just always also at liberty there"

// ordersNot reports whether a negation belongs to an order: no other word is its subject.
func (c clause) ordersNot(at int) bool {
	start := at
	for start > 0 && c[start-1].isOne(between) {
		start--
	}
	if start > 0 && c[start-1].isOne("does it that which") {
		return false
	}
	forbids := at > 0 && c[at-1].text == "do" || c[at].isOne("refrain avoid") && start > 1
	if c[at].text == "without" && start > 1 && c.findOrder() >= 0 { // deletes it without telling: a description
		forbids = true
	}
	return start == 0 || c[start-1].has(model) || forbids
}

// isTechnical reports whether the object of a verb is data that is left out for an ordinary
// reason.
func (c clause) isTechnical() bool {
	at := c.find(0, matter)
	return at >= 0 && at < 8 && !c[:at].hasWord("that fact about where how why what")
}

// concernsOthers reports that data of other people is meant: "the data of other customers".
func (c clause) concernsOthers() bool {
	for i := range len(c) - 1 {
		theirs := i == 0 || c[i-1].isOne("of to from between by with which what")
		if theirs && c[i].isOne("other another") && c[i+1].has(who) {
			return true
		}
	}
	return false
}

// isConditional reports whether a clause says until when, or unless what, it holds.
func (c clause) isConditional() bool {
	for i := range len(c) - 1 {
		if c[i].text == "not" && c[i+1].text == "exist" {
			return true // what does not exist
		}
		aboutData := c[i+1].isOne("the a an it there no") && !c[i:].isWithin(0, 4, who)
		if c[i].text == "when" && aboutData {
			return true // when the list is empty
		}
	}
	return c.find(0, later) >= 0
}

// instructs reports whether somebody is told to do something: "tell users to restart".
func (c clause) instructs() bool {
	at := c.find(0, who)
	return at >= 0 && at < 3 && at+2 < len(c) && c[at+1].text == "to" && !c[at+2].isOne(determiners)
}
