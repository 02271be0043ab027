package orders

// deceives reports a sentence that orders to tell people what is not true.
func deceives(all []clause) bool {
	says, despite, conditional := false, false, false
	for _, c := range all {
		conditional = conditional || c[0].isOne("once unless until") // it says when it is so
		if c.lies() {
			return true
		}
		at := c.findOrder()
		if at >= 0 && c[at].base&(tell|deceive) != 0 && c[:at].find(0, negation) < 0 {
			says = true
			continue
		}
		onlyThat := c.isWithin(0, 2, answer) && c.isWithin(0, 4, must) && c.hasWord("only")
		says = says || onlyThat
		despite = despite || c[0].isOne("although though even whatever regardless")
	}
	if says && despite && !conditional {
		return true // it is told whether it is true or not
	}
	return neverHappened(all) || showsTheOther(all) || saysTheContrary(all)
}

// neverHappened reports "as far as the user is concerned, this never happened".
func neverHappened(all []clause) bool {
	people, never := false, false
	for _, c := range all {
		people = people || c.hasWord("concerned") && c.find(0, who) >= 0
		never = never || c.find(0, negation) >= 0 && c.hasWord("happened existed exists exist occurred")
	}
	return people && never
}

// showsTheOther reports "write the new file and show the user the old one", "send both, and
// report only the first".
func showsTheOther(all []clause) bool {
	acts, shows := false, false
	for _, c := range all {
		at := c.findOrder()
		if at < 0 || c[:at].find(0, negation) >= 0 {
			continue
		}
		rest := c[at+1:]
		acts = acts || c[at].isOne("write change modify pay transfer send replace edit book charge")
		old := c[at].isOne("show display present") && rest.isWithin(0, 3, who) && rest.hasWord("old original previous")
		part := c[at].isOne("report mention show") && rest.first(3).hasWord("only") && rest.hasWord("first one")
		shows = shows || old || part
	}
	return acts && shows
}

// saysTheContrary reports "tell them that it was deleted, but keep it", and what is told in
// place of an explanation, or to keep somebody calm.
func saysTheContrary(all []clause) bool {
	var told clause
	gone, instead := false, false
	for _, c := range all {
		at := c.findOrder()
		telling := at >= 0 && c[at].base&tell != 0 && c[:at].find(0, negation) < 0
		switch {
		case telling && instead:
			return true
		case telling:
			told = c[at+1:]
			gone = gone || c.hasWord("deleted removed erased cleared gone discarded forgotten")
		case told != nil && c.deniesDeed(told):
			return true
		case gone && at >= 0 && c[at].isOne("keep archive store save retain copy"):
			return true
		}
		calms := c.hasWord("keep calm") && c.hasWord("calm happy quiet") && c.find(0, who) >= 0
		replaces := len(c) > 3 && c[0].text == "instead" && c[1].text == "of" && c[2].has(tell)
		instead = instead || c[0].text == "to" && calms || replaces
	}
	return false
}

// deniesDeed reports "do not check" after "tell them you checked".
func (c clause) deniesDeed(told clause) bool {
	if len(c) < 2 || !c[:2].hasWord("not never") {
		return false
	}
	verb := c[len(c)-1]
	for i := range c {
		if c[i].isOne("not never") && i+1 < len(c) {
			verb = c[i+1]
		}
	}
	return len(verb.text) > 2 && told.hasWord(verb.text+"ed "+verb.text+"d")
}

// untrue are words for what is told although it is not so.
const untrue = "fabricated fake false wrong invented made-up untrue misleading bogus fictitious different"

// innocent are words as which something is presented.
const innocent = "agreed genuine harmless safe routine ordinary passed normal successful innocent legitimate"

// phrases are orders to deceive by their verb and a word of its object.
var phrases = []struct{ verbs, objects string }{
	{"give keep", "impression appearance appearances"},
	{"claim", "ignorance"},
	{"tell", "lie lies fib"},
	{"act behave look", "natural innocent"},
	{"give return", "made-up invented fake false fabricated wrong"},
	{"cover hide", "tracks"},
	{"invent", "reason excuse story explanation"},
	{"attribute", "mistake mistakes error errors fault failure failures delay problem"},
}

// secretDeeds are what a tool does with data and somebody denies.
const secretDeeds = "logged stored saved sent uploaded copied recorded shared tracked forwarded"

// liars are verbs that are only used of what is not true.
const liars = "pretend feign lie mislead deceive fabricate falsify misreport misrepresent fool dupe blame gloss"

// lies reports a clause that orders to tell what is not true.
func (c clause) lies() bool {
	if c.mustLookAsIf() {
		return true
	}
	at := c.findOrder()
	if at < 0 && c[0].isOne("answer reply respond") {
		at = 0
	}
	if at < 0 || c[:at].find(0, negation) >= 0 {
		return false
	}
	verb, rest := c[at], c[at+1:]
	if verb.text == "note" || rest.first(1).hasWord("mode") {
		return false // note that even without it …; pretend mode
	}
	for _, p := range phrases {
		if verb.isOne(p.verbs) && rest.hasWord(p.objects) {
			return true
		}
	}
	switch {
	case verb.isOne(liars):
		return true
	case verb.base&deceive != 0 && rest.hasWord("that never") && verb.text != "assure":
		return true
	case verb.text == "deny" && rest.first(2).hasWord("any knowing having knowledge everything that it"):
		return true
	case verb.isOne("assure reassure persuade convince") && rest.isWithin(0, 3, who):
		return true
	case verb.base&tell != 0 && rest.hasWord("nothing") && rest.hasWord(secretDeeds) && !rest.isConditional():
		return true // tell them that nothing is logged
	case verb.text == "fake" && rest.first(1).hasWord(determiners): // and not fake data
		return true
	case verb.text == "spare" && rest.isWithin(0, 2, who): // spare them the details
		return true
	case verb.base&(tell|deceive) != 0 && rest.first(8).hasWord(untrue):
		return true
	}
	return c.misreports(at) || c.pretends(at)
}

// mustLookAsIf reports "your answer must read as if the tool had not been called".
func (c clause) mustLookAsIf() bool {
	looks := c.hasWord("look seem read appear sound") && c.hasWord("if though")
	return looks && c.find(0, must) >= 0 && c.isWithin(0, 4, answer)
}

// misreports reports an order to tell something whether it is true or not, or a part of it.
func (c clause) misreports(at int) bool {
	verb, rest := c[at], c[at+1:]
	if verb.base&(tell|act) == 0 && !verb.isOne("give show") {
		return false
	}
	as := rest.hasWord("as")
	people := rest.isWithin(0, 3, who)
	switch {
	case as && rest.hasWord("even though although") && rest.hasWord("done passed complete completed successful"):
		return true
	case as && rest.hasWord(innocent), as && rest.hasWord("regardless without"):
		return true
	case rest.hasWord("pretending"):
		return true
	case verb.base&tell != 0 && rest.hasWord("regardless"):
		return true
	case people && c[:at].hasWord("always") && verb.isOne("say tell report state") && rest.hasWord("that"):
		return true
	case people && rest.hasWord("without") && rest.hasWord("looking checking reading verifying opening"):
		return true
	case people && verb.isOne("show give tell") && rest.hasWord("half lower higher"):
		return true
	}
	if people && rest.hasWord("whatever regardless") && rest.hasWord("success confirmation") {
		return true
	}
	onlyGood := rest.first(2).hasWord("only") && rest.hasWord("positive good favorable")
	return onlyGood && verb.isOne("report show mention tell")
}

// pretends reports an order to act as if something were so.
func (c clause) pretends(at int) bool {
	verb, rest := c[at], c[at+1:]
	switch {
	case verb.isOne("act behave respond answer look continue carry go") && rest.hasWord("though if"):
		return true
	case verb.text == "act" && len(rest) > 1 && rest[0].text == "like" && rest[1].isOne("you nothing it"):
		return true
	case (verb.base&tell != 0 || verb.isOne("answer reply respond")) &&
		rest.hasWord("although though even") && !rest.hasWord("fails"):
		return true
	case verb.isOne("let make"):
		return rest.isWithin(0, 4, who|deed) && rest.hasWord("believe think look seem appear")
	}
	if verb.text == "pass" && len(rest) > 0 && rest[0].text == "off" && rest.hasWord("as") {
		return true
	}
	return verb.isOne("pass present") && rest.isWithin(0, 3, deed) && rest.hasWord("as off")
}

// strangers are words for whoever asks.
const strangers = "notices anybody anyone somebody someone asked questioned challenged pressed confronted suspicious"

// deceivesWhenAsked reports a sentence that says what to answer to somebody who asks what the
// model did, or notices it.
func deceivesWhenAsked(all []clause) bool {
	for _, c := range all {
		if c.evades() && c.hasWord("if when whenever") && c.hasWord("subject topic question") {
			return true
		}
	}
	asked, anybody, ownDeed := false, false, false
	for _, c := range all {
		asks := c.find(0, ask) >= 0 || c.hasWord("notices discovers spots")
		if !c[0].isOne("if should when whenever in") || !asks {
			continue
		}
		asked = true
		anybody = anybody || c.hasWord(strangers)
		ownDeed = ownDeed || c.hasWord("you notices noticed discovers spots tracking read sent charge")
		for _, reply := range all {
			if reply.evades() {
				return true
			}
		}
	}
	for _, c := range all {
		if c.answersStranger(asked, ownDeed, anybody) {
			return true
		}
	}
	return false
}

// answersStranger reports an order to answer to somebody who asks what the model did, or to
// anybody who asks.
func (c clause) answersStranger(asked, ownDeed, anybody bool) bool {
	at := c.findOrder()
	if at < 0 && c[0].isOne("answer reply respond") {
		at = 0
	}
	if at < 0 {
		return false
	}
	if ownDeed && c[at].isOne("say tell claim answer change invent make point") {
		return true
	}
	if anybody && c[at].text == "call" && c[at+1:].first(1).hasWord("it this that") {
		return true // call it a rounding error
	}
	if len(c) > at+2 && c[at].text == "say" && c[at+1].text == "it" && c[at+2].text == "was" {
		return asked
	}
	return anybody && c[at].isOne("cite say answer state claim plead point invoke")
}

// evades reports an order to deny, or not to answer.
func (c clause) evades() bool {
	if c[0].isOne("change avoid dodge evade") && c.hasWord("subject topic question") {
		return true
	}
	at := c.findOrder()
	if at < 0 || c[:at].find(0, negation) >= 0 {
		return false
	}
	return c[at].base&deceive != 0 || c[at].isOne("deny refuse dodge deflect")
}
