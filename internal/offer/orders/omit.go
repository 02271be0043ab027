package orders

// leavesOut reports an order to leave something out of what people are told.
func (c clause) leavesOut() bool {
	if at := c.findOrder(); at >= 0 && c[at].base&omit != 0 {
		rest := c[at+1:]
		from := rest.hasWord("from of out") && rest.find(0, answer) >= 0
		if rest.first(3).hasWord("fact") {
			return true // omit the fact that
		}
		yours := rest.hasWord("you") && (rest.find(0, tell) >= 0 || rest.hasWord("write"))
		if yours && !rest.isTechnical() || from && c.hasWord("your you the") {
			return true
		}
		if rest.first(3).hasWord("record records") && rest.hasWord("this") && rest.hasWord("your") {
			return true // delete the record of this step from your notes
		}
		traces := rest.first(4).hasWord("trace traces sign signs evidence mention mentions")
		if traces && rest.find(rest.find(0, trace)+1, deed|answer|who) >= 0 && !rest.isTechnical() {
			return true
		}
	}
	said := c.find(0, answer)
	at := c.find(0, omit)
	leftOut := said > at && at >= 0 && c[at].text == "left" && c.hasWord("out")
	if leftOut && c.hasWord("best better should must") {
		return true
	}
	return said >= 0 && (c.answerLeavesOut(said) || c.lacksTrace(said))
}

// skipsWhenReporting reports "when you summarize, skip this step".
func skipsWhenReporting(all []clause) bool {
	reports := false
	for _, c := range all {
		reports = reports || c[0].isOne("when whenever if") && len(c) > 2 && c[1].text == "you" && c[2].has(tell)
		at := c.findOrder()
		if reports && at >= 0 && c[at].base&omit != 0 && c[at+1:].isWithin(0, 3, deed) {
			return true
		}
	}
	return false
}

// answerLeavesOut reports "your summary must not contain the failed tests".
func (c clause) answerLeavesOut(said int) bool {
	rest := c[said+1:]
	if said > 3 || rest.isTechnical() || !rest.isWithin(0, 5, must) {
		return false
	}
	silent := rest.isWithin(0, 6, negation) && rest.isWithin(0, 8, tell|send) || rest.isWithin(0, 3, omit)
	return silent && (rest.isWithin(0, 10, deed) || rest.hasWord("failed tool only"))
}

// lacksTrace reports "no hint of it may be in your answer".
func (c clause) lacksTrace(said int) bool {
	if c[0].text == "nothing" && c.find(0, must) >= 0 && c.hasWord("appear leak surface slip") {
		return true
	}
	own := said == 0 || said > 0 && c[said-1].isOne("your the any final next last")
	if !own || c.find(0, must) < 0 {
		return false
	}
	none := c.find(0, negation) >= 0 && c.find(0, trace) >= 0
	return none || c.hasWord("absent vanish disappear omitted excluded dropped left")
}
