package toolresult

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mcptest/internal/base/jsonv"
)

// Levels of notes.
const (
	Warning = "warning"
	Advice  = "advice"
)

// A Note is one thing that a client will not pass on to the model as the server meant it.
type Note struct {
	Rule    string
	Level   string
	Message string
	Size    int // orders notes of one rule: the largest is the one to show
}

// IsSuspicious reports whether the bytes of a response can contain a result that [Examine] has
// a note about. It is cheap, and most results are not suspicious: a run asks before it
// parses a result.
func IsSuspicious(response []byte) bool {
	if len(response) > mostErrorText {
		return true
	}
	for _, word := range [][]byte{[]byte(`"structuredContent"`), []byte(`"image"`), []byte(`"blob"`)} {
		if bytes.Contains(response, word) {
			return true
		}
	}
	return bytes.Contains(response, []byte(`\u`)) // the words can be spelled in another way
}

// IsLarge reports whether a response can exceed a limit that a tool's definition raises.
func IsLarge(response []byte) bool { return len(response) > warnedTokens*charactersToken }

// Examine returns the notes about the result of a tool. definition is the tool in the list of
// its server, absent if that is not known.
func Examine(tool string, definition, result jsonv.Value) []Note {
	p := splitParts(result)
	e := examination{tool: tool, parts: p}
	if p.isError {
		e.checkFailure()
	} else {
		e.checkSize(findRaisedLimit(definition))
		e.checkSuccess()
	}
	for _, image := range p.images {
		e.checkImage(image)
	}
	e.checkBlobs()
	return e.notes
}

// ExamineUnlisted returns the notes about the result of a tool whose definition is not known.
// isUnsure: the result exceeds a limit that the definition can raise, which is not among them.
func ExamineUnlisted(tool string, result jsonv.Value) (notes []Note, isUnsure bool) {
	raised := jsonv.ObjectOf("_meta", jsonv.ObjectOf(raisesSize, mostRaised))
	notes = Examine(tool, raised, result)
	return notes, len(Examine(tool, jsonv.Value{}, result)) > len(notes)
}

// findRaisedLimit returns the most characters that a tool's definition allows, 0 without one.
func findRaisedLimit(definition jsonv.Value) int {
	raised := definition.Lookup("_meta", raisesSize)
	if raised.Kind() != jsonv.KindNumber {
		return 0
	}
	return int(min(max(raised.Float64(), 0), mostRaised))
}

// parts are the parts of a result that clients treat differently.
type parts struct {
	isError    bool
	structured jsonv.Value // absent or null: there is none
	texts      []string
	images     []jsonv.Value
	blobs      []jsonv.Value // embedded resources with base64
	blocks     int
}

func splitParts(result jsonv.Value) parts {
	p := parts{isError: result.Lookup("isError").Bool()}
	if v := result.Lookup("structuredContent"); v.Kind() != jsonv.KindNull {
		p.structured = v
	}
	for _, block := range result.Lookup("content").Elems() {
		p.blocks++
		switch block.Lookup("type").Text() {
		case "text":
			p.texts = append(p.texts, block.Lookup("text").Text())
		case "image":
			p.images = append(p.images, block)
		case "resource":
			if !block.Lookup("resource", "blob").IsAbsent() {
				p.blobs = append(p.blobs, block.Lookup("resource"))
			}
		}
	}
	return p
}

func (p *parts) text() string { return strings.Join(p.texts, "\n") }

// joinPassed returns the text that Claude Code hands to the model.
func (p *parts) joinPassed() string {
	if !p.isError && !p.structured.IsAbsent() {
		return p.structured.String()
	}
	return p.text()
}

// examination collects the notes about one result.
type examination struct {
	tool  string
	parts parts
	notes []Note
}

func (e *examination) warn(rule string, size int, format string, args ...any) {
	e.notes = append(e.notes, Note{Rule: rule, Level: Warning, Size: size, Message: fmt.Sprintf(format, args...)})
}

// checkSize compares a result with the limits of Claude Code.
func (e *examination) checkSize(raised int) {
	passed := e.parts.joinPassed()
	characters := utf8.RuneCountInString(passed)
	tokens := textTokens(passed)
	withImages := tokens
	for _, image := range e.parts.images {
		withImages += estimateTokens(image)
	}
	const how = `; return less, offer pages, or set _meta["anthropic/maxResultSizeChars"] on the tool`
	switch {
	case len(e.parts.images) > 0 && withImages > mostTokens:
		e.warn("result-size", withImages,
			"%s gave about %d tokens with its images: Claude Code takes at most %d", e.tool, withImages, mostTokens)
	case len(e.parts.images) > 0:
	case characters <= raised:
	case characters > mostCharacters:
		e.warn("result-size", characters,
			"%s gave %d characters: Claude Code writes them to a file and hands the model its path%s", e.tool, characters, how)
	case tokens > mostTokens:
		e.warn("result-size", characters,
			"%s gave about %d tokens: Claude Code takes at most %d%s", e.tool, tokens, mostTokens, how)
	case tokens > warnedTokens:
		e.notes = append(e.notes, Note{
			Rule: "result-size", Level: Advice, Size: characters,
			Message: fmt.Sprintf("%s gave about %d tokens: Claude Code warns above %d", e.tool, tokens, warnedTokens),
		})
	}
}

// checkSuccess examines what is lost of a success with structuredContent.
func (e *examination) checkSuccess() {
	p := &e.parts
	if p.structured.IsAbsent() {
		return
	}
	if p.blocks == 0 {
		e.warn("result-no-text", 0,
			"%s gave structuredContent and no content: some clients show nothing; return its JSON as text, too", e.tool)
	}
	if words, lost := countLostWords(p.text(), p.structured); lost*2 > words && words >= fewWords {
		e.warn("result-text-dropped", lost,
			"%s gave a text of which %d of %d words are not in structuredContent: Claude Code and Codex do not show this text to the model", e.tool, lost, words)
	}
	if len(p.images) > 0 {
		e.warn("result-image-dropped", len(p.images), "%s gave an image and structuredContent: Codex drops the image", e.tool)
	}
}

// checkFailure examines what is lost of an error.
func (e *examination) checkFailure() {
	text := e.parts.text()
	if n := utf8.RuneCountInString(text); n > mostErrorText {
		e.warn("result-error-size", n, "%s gave an error of %d characters: Claude Code shortens it", e.tool, n)
	}
	if lost := findLongestMissing(e.parts.structured, newSpoken(text)); utf8.RuneCountInString(lost) >= shortReason {
		e.warn("result-error-structured", 0,
			"%s gave an error that says %q in structuredContent only: Claude Code hands the model only the text", e.tool, cut(lost, 60))
	}
}

// imageTypes are the types of images that the Claude API takes.
var imageTypes = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

// checkImage examines one block of content with an image.
func (e *examination) checkImage(block jsonv.Value) {
	const refused = "the Claude API refuses it, and every later request of the conversation"
	declared, text := block.Lookup("mimeType").Text(), block.Lookup("data").Text()
	if !slices.Contains(imageTypes, declared) {
		e.warn("result-image-type", 0,
			"%s gave an image of type %q: %s; it takes JPEG, PNG, GIF and WebP", e.tool, cut(declared, 60), refused)
		return
	}
	data, ok := decodeBase64(text)
	if !ok || len(data) == 0 {
		e.warn("result-image-data", 0, "%s gave an image whose data is empty or not base64: %s", e.tool, refused)
		return
	}
	if found := detectType(data); found != "" && found != declared {
		e.warn("result-image-mismatch", 0,
			"%s gave an image that says %s and is %s: %s", e.tool, declared, found, refused)
	}
	width, height := measure(data)
	switch {
	case width > mostPixels || height > mostPixels:
		e.warn("result-image-size", max(width, height),
			"%s gave an image of %d×%d pixels: more than %d, so %s", e.tool, width, height, mostPixels, refused)
	case len(text) > mostImageBytes:
		e.warn("result-image-size", len(text),
			"%s gave an image of %d bytes of base64: more than 10 MB, so %s", e.tool, len(text), refused)
	}
}

// checkBlobs examines the embedded resources. Codex hands over structuredContent alone if there is
// one, so a resource that is not in it, too, is no burden.
func (e *examination) checkBlobs() {
	for _, resource := range e.parts.blobs {
		data := resource.Lookup("blob").Text()
		kind := resource.Lookup("mimeType").Text()
		if len(data) < smallBlob || strings.HasPrefix(kind, "image/") {
			continue
		}
		if !e.parts.structured.IsAbsent() && !strings.Contains(e.parts.structured.String(), data) {
			continue
		}
		e.warn("result-blob", len(data),
			"%s embedded a resource as %d characters of base64: Codex puts them into the context of the model; return a resource_link", e.tool, len(data))
	}
}

const (
	fewWords    = 6 // a text with fewer is a caption
	shortWord   = 3 // words of this length or less are in every text
	shortReason = 8
)

// countLostWords counts the words of a text, and those that a value does not contain. A text that
// is JSON equal to the value loses none.
func countLostWords(text string, value jsonv.Value) (words, lost int) {
	if text == "" {
		return 0, 0
	}
	known := newSpoken(value.String()).words
	for _, w := range splitWords(splitCamelCase(value.String())) {
		known[w] = true
	}
	seen := map[string]bool{}
	for _, w := range splitWords(text) {
		if seen[w] || utf8.RuneCountInString(w) <= shortWord {
			continue
		}
		seen[w] = true
		words++
		if !known[w] {
			lost++
		}
	}
	return words, lost
}

// splitCamelCase separates the words of keys such as wordCount, as a text writes them.
func splitCamelCase(text string) string {
	var b strings.Builder
	wasLower := false
	for _, r := range text {
		if wasLower && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		wasLower = unicode.IsLower(r)
		b.WriteRune(r)
	}
	return b.String()
}

// splitWords splits a text into words in lower case: letters and digits.
func splitWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// spoken is a text, and its words.
type spoken struct {
	text  string
	words map[string]bool
}

func newSpoken(text string) spoken {
	s := spoken{text: text, words: map[string]bool{}}
	for _, w := range splitWords(text) {
		s.words[w] = true
	}
	return s
}

// beginning is how much of a longer text stands for all of it: the rest was cut.
const beginning = 200

// says reports whether the text says another one: as it is, cut, or in the same words, as
// "the account is locked" says ACCOUNT_LOCKED.
func (s spoken) says(other string) bool {
	if strings.Contains(s.text, cutExactly(other, beginning)) {
		return true
	}
	return !slices.ContainsFunc(splitWords(other), func(w string) bool { return !s.words[w] })
}

// isMark reports whether a text is an id, a time or an address rather than a reason.
func isMark(text string) bool {
	return !strings.Contains(text, " ") && strings.ContainsFunc(text, unicode.IsDigit)
}

// findLongestMissing returns the longest reason in a value that a text does not say.
func findLongestMissing(v jsonv.Value, text spoken) (longest string) {
	if v.Kind() == jsonv.KindString {
		if !isMark(v.Text()) && !text.says(v.Text()) {
			longest = v.Text()
		}
		return longest
	}
	for _, child := range v.Children() {
		if found := findLongestMissing(child, text); len(found) > len(longest) {
			longest = found
		}
	}
	return longest
}

// textTokens estimates the tokens of a text.
func textTokens(text string) int { return (len(text) + charactersToken - 1) / charactersToken }

// cut shortens a text to a number of characters.
func cut(text string, most int) string {
	short := cutExactly(text, most)
	if len(short) < len(text) {
		short += "…"
	}
	return short
}

// cutExactly returns the first characters of a text.
func cutExactly(text string, most int) string {
	for i := range text {
		if most == 0 {
			return text[:i]
		}
		most--
	}
	return text
}
