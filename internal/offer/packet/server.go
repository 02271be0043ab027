package packet

import (
	"fmt"
	"net/http"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
)

// formatAddress is where the server is reached. The forms take only what is public.
func (p *page) formatAddress() string {
	switch {
	case p.URL == "":
		return p.makeBlank() + " (the packet was made without an address: the form takes a public HTTPS address)"
	case !p.Public:
		p.broken++
		return p.makeBlank() + fmt.Sprintf(" (✗ %s is no public HTTPS address)", p.quoteCode(p.URL))
	}
	return p.quoteCode(p.URL)
}

func (p *page) formatTransport() string {
	if p.URL == "" {
		return p.makeBlank()
	}
	return p.quoteCode(p.Transport)
}

// signIn says what was needed to list the tools. What users need is for the owner to say.
func (p *page) signIn() string {
	switch {
	case p.URL == "":
		return p.makeBlank()
	case p.Credentials == "":
		return p.makeBlank() + " (the tools were listed without credentials)"
	}
	return p.makeBlank() + " (the tools were listed with " + p.text(p.Credentials) + ")"
}

// access says what the tools declare: whether they read, write or do both.
func (p *page) access() string {
	reads, writes, unsaid := 0, 0, 0
	for _, tool := range p.Tools {
		hint := tool.Lookup("annotations", "readOnlyHint")
		switch {
		case hint.Kind() != jsonv.KindBool:
			unsaid++
		case hint.Bool():
			reads++
		default:
			writes++
		}
	}
	said := fmt.Sprintf("%s read only, %d write", display.Count(reads, "tool"), writes)
	switch {
	case unsaid > 0 || len(p.Tools) == 0:
		return p.makeBlank() + fmt.Sprintf(" (%s, %d have no readOnlyHint)", said, unsaid)
	case writes == 0:
		return "reads (" + said + ")"
	case reads == 0:
		return "writes (" + said + ")"
	}
	return "both (" + said + ")"
}

// maxToken bounds what is taken for a token.
const maxToken = 512

// formatChallenge says what the server answers where the directory looks for its token.
func (p *page) formatChallenge(f Field) string {
	c := p.Challenge
	if c.URL == "" {
		return p.makeBlank() + fmt.Sprintf(" (not requested: without an address there is no %s)", p.quoteCode(f.Path))
	}
	at := p.quoteCode(c.URL)
	said := ""
	switch {
	case c.Status == 0:
		said = "✗ no answer: " + p.text(c.Err)
	case c.Status == http.StatusOK && isToken(c):
		return fmt.Sprintf("%s answers %s: compare it with the token of the portal", at,
			p.quoteCode(c.Body)) + p.elsewhere()
	case c.Status == http.StatusOK:
		said = fmt.Sprintf("✗ answers 200, but not with a token alone (%s, %s)",
			p.text(textOrNone(c.ContentType)), p.quoteCode(display.Truncate(c.Body, 60)))
	case c.Status == http.StatusNotFound:
		said = "✗ answers 404: the token that the portal gives is not served yet"
	case c.Status == http.StatusUnauthorized || c.Status == http.StatusForbidden:
		said = fmt.Sprintf("✗ answers %d: the route must be open to everybody", c.Status)
	case c.Location != "":
		said = fmt.Sprintf("✗ answers %d and leads to %s: serve the token at this address", c.Status, p.quoteCode(c.Location))
	default:
		said = fmt.Sprintf("✗ answers %d", c.Status)
	}
	p.broken++
	return at + " " + said + p.elsewhere()
}

// elsewhere reminds of an address that the directory can't reach.
func (p *page) elsewhere() string {
	if p.Public {
		return ""
	}
	return " (the directory asks the public host)"
}

func textOrNone(s string) string {
	if s == "" {
		return "no content type"
	}
	return s
}

// isToken reports whether a body is one word, and neither a page nor JSON.
func isToken(c Challenge) bool {
	body := strings.TrimSpace(c.Body)
	isOneWord := len(strings.Fields(body)) == 1
	return isOneWord && !c.Long && len(body) <= maxToken && !strings.ContainsAny(body, `<>{}[]"`)
}

// offers lists what there is besides tools.
func (p *page) offers(f Field) {
	p.printf("\n%s:\n\n", p.label(f))
	p.writeNames("Prompts", p.Prompts)
	p.writeNames("Resources", p.Resources)
}

func (p *page) writeNames(what string, names []string) {
	if len(names) == 0 {
		p.printf("- %s: none\n", what)
		return
	}
	shown := []string{}
	for _, name := range names[:min(len(names), maxNames)] {
		shown = append(shown, p.quoteCode(name))
	}
	if more := len(names) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	p.printf("- %s: %s\n", what, strings.Join(shown, ", "))
}
