package toolresult

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"mcptest/internal/base/jsonv"
)

// Clients are the names of the clients whose handling of results is known, for [As].
var Clients = []string{"claude-code", "codex"}

// A Handout is what a client hands to a model of one result.
type Handout struct {
	Text   string   // as the model reads it
	Images []string // "image/png 640×480", in their order
	Tokens int      // of all of it, an estimate
	Notes  []string // what the model does not see, and why
}

// As returns what a client of [Clients] hands to a model. definition is the tool in the list
// of its server, absent if that is not known.
func As(client, tool string, definition, result jsonv.Value) Handout {
	p := splitParts(result)
	var h Handout
	if client == "codex" {
		h = convertForCodex(&p, result)
	} else {
		h = convertForClaudeCode(&p, tool, findRaisedLimit(definition))
	}
	h.Tokens += textTokens(h.Text)
	return h
}

// convertForClaudeCode prefers structuredContent of a success and the text of an error, keeps images,
// and replaces a long text by a file.
func convertForClaudeCode(p *parts, tool string, raised int) (h Handout) {
	h.Text = p.joinPassed()
	switch {
	case p.structured.IsAbsent():
	case p.isError:
		h.Notes = append(h.Notes, "structuredContent of an error is dropped")
	case p.losesText():
		h.Notes = append(h.Notes, "the text is dropped: structuredContent takes its place")
	}
	for _, image := range p.images {
		h.Images = append(h.Images, describeImage(image))
		h.Tokens += estimateTokens(image)
	}
	if others := p.blocks - len(p.texts) - len(p.images); others > 0 {
		h.Notes = append(h.Notes, fmt.Sprintf("blocks that are neither text nor image: %d; how they are handed over is not known", others))
	}
	characters := utf8.RuneCountInString(h.Text)
	switch {
	case p.isError && characters > mostErrorText:
		h.Notes = append(h.Notes, fmt.Sprintf("the text of an error is shortened from %d characters to about %d", characters, mostErrorText))
		h.Text = cut(h.Text, mostErrorText)
	case !p.isError && len(p.images) == 0 && characters > max(mostCharacters, raised):
		h.Notes = append(h.Notes, fmt.Sprintf("the content of %d characters is written to a file, whose path is handed over", characters))
		h.Text = fmt.Sprintf("(the path of a file with %d characters that %s gave)", characters, tool)
	}
	return h
}

// convertForCodex hands over structuredContent alone if there is one, otherwise texts as they are,
// images, and every other block as its JSON.
func convertForCodex(p *parts, result jsonv.Value) (h Handout) {
	if !p.structured.IsAbsent() {
		h.Text = p.structured.String()
		if p.losesText() {
			h.Notes = append(h.Notes, "the text is dropped: structuredContent takes its place")
		}
		if len(p.images) > 0 {
			h.Notes = append(h.Notes, "images are dropped: structuredContent takes their place")
		}
		return h
	}
	var texts []string
	for _, block := range result.Lookup("content").Elems() {
		switch block.Lookup("type").Text() {
		case "text":
			texts = append(texts, block.Lookup("text").Text())
		case "image":
			h.Images = append(h.Images, describeImage(block))
			h.Tokens += estimateTokens(block)
		default:
			texts = append(texts, block.String())
		}
	}
	h.Text = strings.Join(texts, "\n")
	return h
}

// losesText reports whether the text says something that structuredContent replaces: not if it
// is the same JSON.
func (p *parts) losesText() bool {
	text := p.text()
	if text == "" {
		return false
	}
	same, err := jsonv.Parse([]byte(text))
	return err != nil || !jsonv.Equal(same, p.structured)
}

// describeImage returns the type and the size of an image in a few words.
func describeImage(block jsonv.Value) string {
	text := cut(block.Lookup("mimeType").Text(), 60)
	data, ok := decodeBase64(block.Lookup("data").Text())
	if !ok {
		return text + " (not base64)"
	}
	if width, height := measure(data); width > 0 {
		return fmt.Sprintf("%s %d×%d", text, width, height)
	}
	return text
}
