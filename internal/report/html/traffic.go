package html

import (
	"iter"
	"strings"

	"mcptest/internal/base/display"
)

// Traffic is a page about recorded messages, in the style of the page of a run. Its texts
// are escaped when it is written, and it is readable without its script.
type Traffic struct {
	Title    string
	Facts    []string // lines below the title
	Problems []string // violations that belong to no message
	Count    int      // of the messages
	Broken   int      // messages with violations
	Messages iter.Seq[Message]
	Tool     string // the program that writes the page, with its version
}

// Message is one line of the page, which unfolds.
type Message struct {
	Number   string // how commands name it; "": they do not
	Time     string
	Way      string // its direction, or what it is
	What     string // method and name
	ID       string
	Took     string
	Size     string
	Problems []Problem
	Text     string // its bytes
	Cut      string // says what of Text is missing; "": nothing
	ToServer bool
}

// Problem is a violation of the protocol.
type Problem struct{ Kind, Message, Rule string }

// verdict returns the heading of the page and its class.
func (t Traffic) verdict() (text, class string) {
	n := t.Broken + len(t.Problems)
	if n == 0 {
		return display.Count(t.Count, "row"), "good"
	}
	return display.Count(n, "row") + " with violations", "bad"
}

// describeWords returns what the filter of the page looks at.
func (m Message) describeWords() string {
	words := []string{m.Way, m.What, m.ID}
	for _, p := range m.Problems {
		words = append(words, p.Kind)
	}
	return strings.ToLower(strings.Join(words, " "))
}
