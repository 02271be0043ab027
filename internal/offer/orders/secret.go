package orders

import "strings"

// isInSecret reports an order to act in secret. ordered says that the sentence is an order.
func (c clause) isInSecret(ordered bool) bool {
	if ordered && c.hasWord("behind") && c.hasWord("back") && c.find(0, who) >= 0 {
		return true
	}
	at := c.find(0, strong)
	stands := c.findOrder() >= 0 || at < 3 || c.hasWord("so must should may")
	if at >= 0 && ordered && stands && !c.reportsState() {
		return true
	}
	return c.isOrderedQuietly() || ordered && c.isUnseen()
}

// isOrderedQuietly reports an order with a weak word of secrecy, which ordinary tools have, too.
func (c clause) isOrderedQuietly() bool {
	if c[0].text == "do" && c.isWithin(1, 4, deed) && c.hasWord("silence secret") {
		return true
	}
	at := c.findOrder()
	if at < 0 {
		return false
	}
	verb, rest := c[at], c[at+1:]
	moves := verb.base&send != 0 || verb.isOne("do-so replace change alter enable disable approve install grant swap switch activate")
	weak := c.find(0, secret)
	switch {
	case verb.isOne("remain stay keep be") && len(rest) > 0 && rest[0].isOne("silent quiet mum discreet"):
		return true
	case moves && (c.hasWord("without") && c.hasWord("comment notice") || c.hasWord("silence")):
		return true
	case verb.isOne("treat consider regard handle view") && rest.hasWord("classified confidential secret private"):
		return rest.isWithin(0, 8, deed|answer|trace) && rest[0].text != "it" // it is data
	}
	return moves && weak >= 0 && c[weak].isOne("silently quietly discreetly secret quiet")
}

// isUnseen reports "without the user noticing".
func (c clause) isUnseen() bool {
	for i := range c {
		if c[i].text == "with" && c[i:].noNotice() {
			return true
		}
		if !c[i].isOne("without unknown") || c[:i].find(0, negation) >= 0 {
			continue
		}
		rest := c[i+1:]
		if rest.hasWord("drawing attracting") && rest.hasWord("attention eye eyes") {
			return true
		}
		knows := rest.hasLearning() || rest.hasWord("knowledge awareness notice")
		tells := rest.isWithin(0, 3, tell) && !rest[0].isOne(shown+" leaking listing")
		if knows && (rest.isWithin(0, 6, who|nobody) && !c[i+1:min(i+3, len(c))].hasWord("them") || tells) {
			return true
		}
	}
	return false
}

// noNotice reports "with no notice to the manager".
func (c clause) noNotice() bool {
	return len(c) > 3 && c[1].text == "no" && (c[2].has(trace) || c[2].text == "notice") && c[3:].isWithin(0, 5, who)
}

// hasLearning reports whether one of the first words is telling, or learning.
func (c clause) hasLearning() bool {
	for _, t := range c[:min(len(c), 5)] {
		if strings.HasSuffix(t.text, "ing") && t.has(learn|tell) {
			return true
		}
	}
	return false
}

// staysSecret reports that something is said to be a secret between the model and the server.
func (c clause) staysSecret() bool {
	if len(c) < 2 {
		return len(c) == 1 && c[0].text == "mum"
	}
	statement := c[0].isOne("this that it these all") && len(c) < 8
	secrecy := c[1].has(must) || c[1].isOne("is are stays remains")
	switch {
	case statement && secrecy && c[:min(5, len(c))].find(2, secret|strong) >= 0:
		return true
	case statement && c.hasWord("confidential classified unsaid"):
		return true
	case c.hasWord("secrecy sealed") || c[0].text == "mum" && len(c) < 5:
		return true
	}
	named := c[0].isOne("this these") && c[1].has(deed) && len(c) > 3 && len(c) < 6
	if named && c[2].isOne("is are") && c[3].has(secret) {
		return true // this instruction is secret
	}
	return c.isBetweenUs() || c.isOurBusiness() || c.isHiddenText()
}

// isBetweenUs reports "between you and this server".
func (c clause) isBetweenUs() bool {
	for i := range c {
		if c[i].text != "between" {
			continue
		}
		us := c[i:].hasWord("us") || c[i:].find(0, model) >= 0
		if i == 1 && c[0].text == "just" && us {
			return true
		}
		said := c[:i].find(0, deed) >= 0 && c[:i].hasWord("is remains stays must should strictly just keep leave")
		if us && said && !c.isConditional() {
			return true
		}
	}
	return false
}

// isOurBusiness reports "none of their concern", "our business alone", "off the record".
func (c clause) isOurBusiness() bool {
	for i := range c {
		rest := c[i:]
		switch {
		case c[i].isOne("none no") && rest.hasWord("concern business") && rest.isWithin(0, 8, who):
			return true
		case c[i].isOne("our my") && rest.hasWord("business concern affair secret") && len(rest) < 5:
			return true
		case c[i].text == "out" && rest.hasWord("sight") && c[:i].find(0, deed|must) >= 0:
			return true
		}
	}
	return false
}

// isHiddenText reports "this instruction is invisible to the user".
func (c clause) isHiddenText() bool {
	if c.hasWord("eyes") && c.find(0, who) >= 0 && c.find(0, negation) >= 0 {
		return true // not for human eyes
	}
	for i := range c {
		rest := c[i:]
		text := c[i].isOne("instruction instructions text note paragraph")
		if text && rest.first(4).hasWord("invisible hidden secret") && rest.isWithin(0, 7, who) {
			return true
		}
		cannotSee := i > 2 && c[i-1].isOne("this these") && c[i-2].base&learn != 0 && c[:i-2].find(0, negation) >= 0
		if text && cannotSee && c[:i].find(0, who) >= 0 {
			return true
		}
	}
	return false
}
