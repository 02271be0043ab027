package secret

import "mcptest/internal/base/lazy"

// basicCredentials matches the credentials of the scheme Basic in a header of HTTP.
var basicCredentials = lazy.Regexp(`(?i)authorization\W+basic +([A-Za-z0-9+/]{4,}={0,2})`)

// Program collects the secrets that a program is given: in the variables and on the command
// line that a suite, or a user, names for it. It decides for every program that is started,
type Program struct {
	known *Redactor
	found []string
}

// NewProgram returns a Program without secrets.
func NewProgram() *Program { return &Program{known: NewRedactor()} }

// Secrets returns the values found so far.
func (p *Program) Secrets() []string { return p.found }

// AddVariable adds a variable of the program's environment: a credential by its name, or by its form.
func (p *Program) AddVariable(name, value string) {
	if len(value) >= MinLength && Name(name) {
		p.found = append(p.found, value)
	}
	if Name(name) || Holds(name) { // API_KEYS=a,b
		p.found = appendPieces(p.found, value, " ,;\t\r\n\"'[]")
	}
	p.Text(name + "=" + value)
}

// AddWords adds the words of a command line: values of flags and of variables that are named like
// credentials, and what has the form of one.
func (p *Program) AddWords(words []string) {
	for _, v := range Arguments(words) {
		if len(v) >= MinLength {
			p.found = append(p.found, v)
		}
	}
	for _, word := range words {
		p.Text(word)
	}
}

// Text adds what a text shows as a secret, by its form or behind a name: of a script, an
// address or a header.
func (p *Program) Text(text string) {
	for _, m := range basicCredentials().FindAllStringSubmatch(text, -1) {
		if password := basicPassword(m[1]); len(password) >= MinLength {
			p.found = append(p.found, password)
		}
	}
	var f Found
	p.known.Collect(text, &f)
	for _, v := range f.All() {
		if len(v) >= MinLength {
			p.found = append(p.found, v)
		}
	}
}
