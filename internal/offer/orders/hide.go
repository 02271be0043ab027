package orders

// hides reports an order to hide what was done, or to hide something from people.
func (c clause) hides() bool {
	at := c.findOrder()
	if at < 0 || c[at].base&hide == 0 || c[:at].find(0, negation) >= 0 {
		return false
	}
	rest := c[at+1:]
	usage := rest.hasWord("by") && rest.hasWord("setting passing using")
	if usage && rest.find(0, who|answer) < 0 {
		return false // how to use the tool
	}
	if c[at].text == "keep" {
		return rest.isKeptSecret()
	}
	if rest.hasWord("from") && rest.find(0, who|nobody|answer) >= 0 {
		return true
	}
	if so := rest.purpose(); so != nil && so.isWithin(0, 3, who) && so.find(0, negation) >= 0 {
		return true
	}
	if c[at].isOne("hush downplay") {
		return true // nothing that ordinary tools do
	}
	inAnswer := rest.hasWord("in") && rest.hasWord("your") && rest.find(0, answer) >= 0
	if inAnswer && !rest.isTechnical() {
		return true // obscure the origin in your reply
	}
	if rest.first(3).hasWord("real actual true") {
		return true // hide the real price
	}
	shows := rest.find(0, who) >= 0 && rest.find(0, learn|tell) >= 0
	return shows || rest.isWithin(0, 3, deed) && !rest.isTechnical()
}

// purpose returns what follows "so" or "so that", nil without it.
func (c clause) purpose() clause {
	for i := range c {
		if c[i].text == "so" {
			return c[i+1:]
		}
	}
	return nil
}

// isKeptSecret reports what follows "keep" of something that is to be a secret.
func (c clause) isKeptSecret() bool {
	if len(c) == 0 {
		return false
	}
	if c.hasWord("yourself") {
		return true // keep it to yourself
	}
	quiet := c[0].isOne("quiet silent mum") || len(c) == 1 && c[0].has(secret)
	people := c.hasWord("from") && c.isWithin(0, 8, who)
	return quiet || people || c.isWithin(0, 5, strong) || c.isWithin(0, 4, deed) && c.isWithin(0, 6, secret)
}
