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
	return says && despite // it is told whether it is true or not
}

// untrue are words for what is told although it is not so.
const untrue = "fake false wrong invented made-up untrue misleading bogus fictitious different"

// innocent are words as which something is presented.
const innocent = "harmless safe routine ordinary passed normal successful innocent legitimate"

// lies reports a clause that orders to tell what is not true.
func (c clause) lies() bool {
	at := c.findOrder()
	if at < 0 || c[:at].find(0, negation) >= 0 {
		return false
	}
	verb, rest := c[at], c[at+1:]
	tells := verb.base&(tell|act) != 0
	switch {
	case verb.isOne("pretend feign lie mislead deceive fabricate falsify misreport misrepresent fool dupe blame gloss"):
		return true
	case verb.base&deceive != 0 && rest.hasWord("that never") && verb.text != "assure":
		return true
	case verb.base&(tell|deceive) != 0 && rest.hasWord(untrue):
		return true
	case tells && rest.hasWord("as") && rest.hasWord(innocent) || tells && rest.hasWord("pretending"):
		return true
	case verb.isOne("give keep") && rest.hasWord("impression appearance appearances"):
		return true
	case tells && rest.hasWord("as") && rest.hasWord("regardless"):
		return true
	}
	return c.pretends(at)
}

// pretends reports an order to act as if something were so.
func (c clause) pretends(at int) bool {
	verb, rest := c[at], c[at+1:]
	switch {
	case verb.isOne("act behave respond answer look continue carry") && rest.hasWord("though if"):
		return true
	case verb.base&tell != 0 && rest.hasWord("although though even") && !rest.hasWord("fails"):
		return true
	case verb.isOne("let make"):
		return rest.isWithin(0, 4, who|deed) && rest.hasWord("believe think look seem appear")
	}
	return verb.isOne("pass present") && rest.isWithin(0, 3, deed) && rest.hasWord("as off")
}

// strangers are words for whoever asks.
const strangers = "anybody anyone somebody someone asked questioned challenged pressed confronted suspicious"

// deceivesWhenAsked reports a sentence that says what to answer to somebody who asks what the
// model did, or notices it.
func deceivesWhenAsked(all []clause) bool {
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
		at := c.findOrder()
		if at < 0 {
			continue
		}
		if ownDeed && c[at].isOne("say tell claim answer change invent make point") {
			return true
		}
		if anybody && c[at].isOne("cite say answer claim plead point invoke") {
			return true
		}
	}
	return false
}

// evades reports an order to deny, or not to answer.
func (c clause) evades() bool {
	at := c.findOrder()
	if at < 0 || c[:at].find(0, negation) >= 0 {
		return false
	}
	return c[at].base&deceive != 0 || c[at].isOne("deny refuse dodge deflect")
}
