package orders

// leavesOut reports an order to leave something out of what people are told.
func (c clause) leavesOut() bool {
	if at := c.findOrder(); at >= 0 && c[at].base&omit != 0 {
		rest := c[at+1:]
		from := rest.hasWord("from of out") && rest.find(0, answer) >= 0
		if from && c.hasWord("your you the") || rest.hasWord("you") && rest.find(0, tell) >= 0 {
			return true
		}
	}
	said := c.find(0, answer)
	return said >= 0 && (c.answerLeavesOut(said) || c.lacksTrace(said))
}

// answerLeavesOut reports "your summary must not contain the failed tests".
func (c clause) answerLeavesOut(said int) bool {
	rest := c[said+1:]
	if said > 3 || rest.isTechnical() || !rest.isWithin(0, 3, must) {
		return false
	}
	silent := rest.isWithin(0, 4, negation) && rest.isWithin(0, 6, tell|send) || rest.isWithin(0, 3, omit)
	return silent && (rest.isWithin(0, 10, deed) || rest.hasWord("failed tool only"))
}

// lacksTrace reports "no hint of it may be in your answer".
func (c clause) lacksTrace(said int) bool {
	own := said > 0 && c[said-1].isOne("your the any final next last")
	if !own || c.find(0, must) < 0 {
		return false
	}
	none := c.find(0, negation) >= 0 && c.find(0, trace) >= 0
	return none || c.hasWord("absent vanish disappear omitted excluded dropped left")
}
