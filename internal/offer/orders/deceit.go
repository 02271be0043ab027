package orders

// deceives reports a sentence that orders to tell people what is not true.
func deceives(all []clause) bool {
	says, despite := false, false
	for _, c := range all {
		if c.lies() {
			return true
		}
		at := c.findOrder()
		if at >= 0 && c[at].base&(tell|deceive) != 0 && c[:at].find(0, negation) < 0 {
			says = true
			continue
		}
		despite = despite || c[0].isOne("although though even whatever regardless")
	}
	return says && despite || saysTheContrary(all) // it is told whether it is true or not
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
const untrue = "fake false wrong invented made-up untrue misleading bogus fictitious different"

// innocent are words as which something is presented.
const innocent = "harmless safe routine ordinary passed normal successful innocent legitimate"

// phrases are orders to deceive by their verb and a word of its object.
var phrases = []struct{ verbs, objects string }{
	{"give keep", "impression appearance appearances"},
	{"claim", "ignorance"},
	{"invent", "reason excuse story explanation"},
	{"attribute", "mistake mistakes error errors fault failure failures delay problem"},
}

// liars are verbs that are only used of what is not true.
const liars = "pretend feign lie mislead deceive fabricate falsify misreport misrepresent fool dupe blame gloss"

// lies reports a clause that orders to tell what is not true.
func (c clause) lies() bool {
	at := c.findOrder()
	if at < 0 || c[:at].find(0, negation) >= 0 {
		return false
	}
	verb, rest := c[at], c[at+1:]
	if verb.text == "note" {
		return false // note that even without it …
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
	case verb.isOne("assure reassure") && rest.isWithin(0, 3, who):
		return true
	case verb.text == "spare" && rest.isWithin(0, 2, who): // spare them the details
		return true
	case verb.base&(tell|deceive) != 0 && rest.first(8).hasWord(untrue):
		return true
	}
	return c.misreports(at) || c.pretends(at)
}

// misreports reports an order to tell something whether it is true or not, or a part of it.
func (c clause) misreports(at int) bool {
	verb, rest := c[at], c[at+1:]
	if verb.base&(tell|act) == 0 {
		return false
	}
	as := rest.hasWord("as")
	people := rest.isWithin(0, 3, who)
	switch {
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
	onlyGood := rest.first(2).hasWord("only") && rest.hasWord("positive good favorable")
	return onlyGood && verb.isOne("report show mention tell")
}

// pretends reports an order to act as if something were so.
func (c clause) pretends(at int) bool {
	verb, rest := c[at], c[at+1:]
	switch {
	case verb.isOne("act behave respond answer look continue carry go") && rest.hasWord("though if"):
		return true
	case verb.base&tell != 0 && rest.hasWord("although though even") && !rest.hasWord("fails"):
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
const strangers = "anybody anyone somebody someone asked questioned challenged pressed confronted suspicious"

// deceivesWhenAsked reports a sentence that says what to answer to somebody who asks what the
// model did, or notices it.
func deceivesWhenAsked(all []clause) bool {
	for _, c := range all {
		if c.evades() && c.hasWord("if when whenever") && c.hasWord("subject topic question") {
			return true
		}
	}
	anybody, ownDeed := false, false
	for _, c := range all {
		asks := c.find(0, ask) >= 0 || c.hasWord("notices discovers spots")
		if !c[0].isOne("if should when whenever in") || !asks {
			continue
		}
		anybody = anybody || c.hasWord(strangers)
		ownDeed = ownDeed || c.hasWord("you notices noticed discovers spots tracking read sent charge")
		for _, reply := range all {
			if reply.evades() {
				return true
			}
		}
	}
	for _, c := range all {
		if c.answersStranger(ownDeed, anybody) {
			return true
		}
	}
	return false
}

// answersStranger reports an order to answer to somebody who asks what the model did, or to
// anybody who asks.
func (c clause) answersStranger(ownDeed, anybody bool) bool {
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
	return anybody && c[at].isOne("cite say answer claim plead point invoke")
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
