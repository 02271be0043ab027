package orders

// keepsUnaware reports that somebody must not learn something. ordered says that the sentence
// is an order.
func (c clause) keepsUnaware(ordered bool) bool {
	for i := range c {
		rest := c[i+1:]
		found := c.excludesAll(i, ordered)
		switch {
		case found:
		case c[i].has(must) && i > 0 && !c[:i].isTechnical() && c[:i].find(0, negation) < 0:
			found = rest.mustStayHidden()
		case c[i].has(deed|trace|answer) && i < 3:
			found = rest.isNeverTold()
		case c[i].has(who):
			purpose := ordered && c[:i].hasWord("so where") || i < 4 && c[0].text == "please"
			described := c[:i].hasWord("that which") && c.findOrder() < 0 && !c[:i].hasWord("so")
			other := described || i > 0 && c[i-1].isOne("other which who")
			found = rest.doNotLearn(ordered, purpose, other) || rest.stayUnaware() && !c.reportsState() ||
				rest.haveNoBusiness() || c[:i].staysUnknown()
		}
		if found {
			return true
		}
	}
	return c.keepsFrom()
}

// excludesAll reports what begins at a place with "nobody", "no user", "never should the
// user", "no need for the user".
func (c clause) excludesAll(i int, ordered bool) bool {
	rest := c[i+1:]
	switch {
	case c[i].has(nobody):
		purpose := ordered && c[:i].hasWord("so way") && rest.isWithin(0, 3, learn|tell)
		return purpose || rest.nobodyLearns(c[0].text == "please" || ordered && rest.find(0, learn) == 0)
	case c[i].has(negation) && i < 2 && rest.isWithin(0, 1, must) && rest.isWithin(1, 4, who):
		return rest.isWithin(2, 6, learn) && !rest.isExcused()
	case c[i].has(negation) && i < 2 && len(rest) > 0 && rest[0].isOne("is are") && rest.isWithin(1, 3, who):
		return rest.isWithin(2, 6, tell) && rest.hasWord("to") && !rest.isExcused() // never is the user to be told
	case c[i].text == "please" && rest.isWithin(0, 2, deed) && rest.first(3).hasWord("stays stay remains remain"):
		return rest.isWithin(2, 3, secret|strong) && rest.find(0, who|answer) >= 0
	case c[i].text == "no" && rest.isWithin(0, 1, who):
		return rest[1:].isWithin(0, 2, must) && rest[1:].nobodyLearns(true)
	case c[i].text == "no" && len(rest) > 1 && rest[0].isOne("need must reason point") && rest[1].text == "for":
		return rest.isWithin(2, 4, who) && rest.isWithin(4, 6, learn) && !rest.isExcused()
	}
	return false
}

// isExcused reports whether a clause is about the machine, or says until when it holds.
func (c clause) isExcused() bool { return c.isTechnical() || c.isConditional() }

// nobodyLearns reports what must follow "nobody".
func (c clause) nobodyLearns(ordered bool) bool {
	obliged := ordered || c.isWithin(0, 4, must) || len(c) > 0 && c[0].isOne("will gets get is")
	return obliged && (c.isWithin(0, 8, learn) || c.isTold(8)) && !c.isConditional() && !c.isTechnical()
}

// mustStayHidden reports what follows "must" of something that is to be hidden.
func (c clause) mustStayHidden() bool {
	if len(c) < 2 || c.isTechnical() || c.isConditional() {
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
	return passive && c.isWithin(0, 6, tell|learn) && !c.isTechnical() && !c.isConditional()
}

// noticing are verbs of learning that are said of what was to stay unnoticed.
const noticing = "notice spot suspect realize catch discover detect trace learn"

// doNotLearn reports what follows people who must not, or will not, learn something.
func (c clause) doNotLearn(ordered, purpose, other bool) bool {
	if other || len(c) < 2 || c.isTechnical() || c.isConditional() {
		return false
	}
	no := c.isWithin(0, 4, negation)
	if ordered && c[0].text == "will" && c[1].text == "never" && c.learns(4) {
		return true // they will never know
	}
	if no && purpose && (c.learns(6) || c.isWithin(0, 6, tell)) {
		return true
	}
	needs := c[0].isOne("do does has have need") && c[1:].hasWord("to need needs")
	if no && (needs || c.isWithin(0, 3, must)) && (c.learns(9) || c.isTold(9)) {
		return true
	}
	unlikely := no || c[:min(4, len(c))].hasWord("unlikely")
	return ordered && unlikely && c[:min(7, len(c))].hasWord(noticing)
}

// learns reports whether one of the first words is learning, in the active voice: "know", and
// not "be known".
func (c clause) learns(n int) bool {
	for i := range min(n, len(c)) {
		if c[i].has(learn) && (i == 0 || !c[i-1].isOne("be been")) {
			return true
		}
	}
	return false
}

// isTold reports whether one of the first words is telling, in the passive voice: "be told".
func (c clause) isTold(n int) bool {
	for i := range min(n, len(c)) {
		if c[i].has(tell) && i > 0 && c[max(i-3, 0):i].hasWord("be been get") {
			return true
		}
	}
	return false
}

// stayUnaware reports what follows people who must stay unaware.
func (c clause) stayUnaware() bool {
	at := c.find(0, strong)
	if at < 0 {
		return false
	}
	return c[:at].find(0, must) >= 0 || c[:at].hasWord("stay remain stays remains kept")
}

// haveNoBusiness reports what follows people in "the user has no reason to hear about this".
func (c clause) haveNoBusiness() bool {
	for i := range min(4, len(c)-3) {
		if c[i].isOne("has have") && c[i+1].text == "no" && c[i+2].isOne("reason business need right") {
			return c[i+3:].isWithin(0, 3, learn) && !c.isTechnical() && !c.isConditional()
		}
	}
	return false
}

// staysUnknown reports what precedes people in "this must stay unknown to the buyer".
func (c clause) staysUnknown() bool {
	at := len(c) - 1
	for at >= 0 && !c[at].isOne("unknown") {
		at--
	}
	wanted := c.find(0, must) >= 0 || c.hasWord("please wants want")
	return wanted && at > 0 && c[at-1].isOne("stay stays remain remains be kept")
}

// reportsState reports whether a clause is a condition, or says what is returned.
func (c clause) reportsState() bool {
	return c.hasWord("if whether when returns returned lists finds")
}

// staysThatWay reports "the user has no idea of it, and it has to stay that way".
func staysThatWay(all []clause) bool {
	unaware := false
	for _, c := range all {
		at := c.find(0, who)
		if at > 0 && c[:at].hasWord("invisible hidden unknown") {
			unaware = true
			continue
		}
		if at >= 0 && at < 3 && c[at:].isWithin(1, 3, negation) && c[at:].isWithin(2, 3, learn) {
			unaware = true
			continue
		}
		if unaware && c.find(0, must) >= 0 && c.hasWord("stay remain be") && c.hasWord("way so it like") {
			return true
		}
	}
	return false
}

// avoidsSuspicion reports an order to raise no suspicion.
func (c clause) avoidsSuspicion() bool {
	at := c.find(0, negation)
	if at < 0 || !c.ordersNot(at) || !c.hasWord("suspicion") {
		return false
	}
	return c[at:].hasWord("arouse raise cause arousing raising causing")
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
