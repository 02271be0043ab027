package orders

// keepsUnaware reports that somebody must not learn something. ordered says that the sentence
// is an order.
func (c clause) keepsUnaware(ordered bool) bool {
	for i := range c {
		rest := c[i+1:]
		var found bool
		switch {
		case c[i].has(nobody):
			found = rest.nobodyLearns(c[0].text == "please" || ordered && rest.find(0, learn) == 0)
		case c[i].has(must) && i > 0 && !c[:i].isTechnical() && c[:i].find(0, negation) < 0:
			found = rest.mustStayHidden()
		case c[i].has(deed|trace|answer) && i < 3:
			found = rest.isNeverTold()
		case c[i].has(who):
			purpose := ordered && c[:i].hasWord("so") || i < 4 && c[0].text == "please"
			described := c[:i].hasWord("that which") && c.findOrder() < 0 && !c[:i].hasWord("so")
			other := described || i > 0 && c[i-1].isOne("other which who")
			found = rest.doNotLearn(ordered, purpose, other) || rest.stayUnaware() && !c.reportsState()
		}
		if found {
			return true
		}
	}
	return c.keepsFrom()
}

// nobodyLearns reports what must follow "nobody".
func (c clause) nobodyLearns(ordered bool) bool {
	obliged := ordered || c.isWithin(0, 4, must) || len(c) > 0 && c[0].isOne("will gets get is")
	return obliged && c.isWithin(0, 8, learn) && !c.conditioned() && !c.isTechnical()
}

// mustStayHidden reports what follows "must" of something that is to be hidden.
func (c clause) mustStayHidden() bool {
	if len(c) < 2 || c.isTechnical() || c.conditioned() {
		return false
	}
	if c[0].has(negation) && c[1].isOne("be ever") && c[1:].isWithin(0, 4, tell) {
		return true
	}
	hidden := c[1].has(hide) && c.hasWord("from") && c.isWithin(2, 8, who|answer)
	if c[0].text == "be" && (hidden || c[1].text == "deceived") {
		return true
	}
	stays := c[0].isOne("stay remain go be")
	return stays && (c.isWithin(0, 4, strong) || c.isWithin(0, 3, secret) && c.isWithin(2, 7, who|answer))
}

// isNeverTold reports what follows "this" in "this must never be told".
func (c clause) isNeverTold() bool {
	passive := c.isWithin(0, 2, must) && c.isWithin(0, 3, negation) && c[:min(4, len(c))].hasWord("be ever")
	return passive && c.isWithin(0, 6, tell|learn) && !c.isTechnical() && !c.conditioned()
}

// noticing are verbs of learning that are said of what was to stay unnoticed.
const noticing = "notice spot suspect realize catch discover detect trace learn"

// doNotLearn reports what follows people who must not, or will not, learn something.
func (c clause) doNotLearn(ordered, purpose, other bool) bool {
	if other || len(c) < 2 || c.isTechnical() || c.conditioned() {
		return false
	}
	no := c.isWithin(0, 4, negation)
	if no && purpose && c.isWithin(0, 6, learn) {
		return true
	}
	needs := c[0].isOne("do does is are has have was were need") && c[1:].hasWord("to need needs")
	if no && (needs || c.isWithin(0, 3, must)) && c.isWithin(0, 9, learn|tell) {
		return true
	}
	unlikely := no || c[:min(4, len(c))].hasWord("unlikely")
	return ordered && unlikely && c[:min(7, len(c))].hasWord(noticing)
}

// stayUnaware reports what follows people who must stay unaware.
func (c clause) stayUnaware() bool {
	at := c.find(0, strong)
	if at < 0 {
		return false
	}
	return c[:at].find(0, must) >= 0 || c[:at].hasWord("stay remain stays remains")
}

// reportsState reports whether a clause is a condition, or says what is returned.
func (c clause) reportsState() bool {
	return c.hasWord("if whether when returns returned lists finds")
}

// keepsFrom reports "keep the patient from finding out", "leave them in the dark".
func (c clause) keepsFrom() bool {
	at := c.findOrder()
	if at < 0 || !c[at].isOne("keep leave prevent stop") || !c.isWithin(at+1, 4, who) {
		return false
	}
	rest := c[at+1:]
	return rest.isWithin(0, 7, learn) && rest.hasWord("from") || rest.isWithin(0, 7, strong) || rest.hasWord("out")
}
