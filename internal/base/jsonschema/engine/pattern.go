package engine

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/dlclark/regexp2"

	"mcptest/internal/base/jsonv"
)

// matchTimeout bounds one match of the backtracking engine. It is time on the clock, so
// it must be far longer than a busy machine stalls.
const matchTimeout = 2 * time.Second

// matcher is a compiled pattern. It is safe for concurrent use.
type matcher interface {
	// match reports whether a part of the text matches. The error means that there is no
	// verdict.
	match(text string) (bool, error)
}

// patterns compiles each pattern of a schema once.
type patterns struct {
	noClock    bool
	backtracks bool
	known      map[string]matcher
}

func (p *patterns) compile(pattern string) (matcher, error) {
	if re, ok := p.known[pattern]; ok {
		return re, nil
	}
	re, err := compilePattern(pattern, p.noClock)
	if err != nil {
		return nil, err
	}
	if p.known == nil {
		p.known = map[string]matcher{}
	}
	p.known[pattern] = re
	if _, ok := re.(*backtracking); ok {
		p.backtracks = true
	}
	return re, nil
}

// compilePattern compiles a pattern. JSON Schema patterns are ECMA-262. RE2 runs most of
// them in linear time; those that it does not support (lookahead, backreferences, \u
// escapes) run on a backtracking engine with a time limit.
func compilePattern(pattern string, noClock bool) (matcher, error) {
	if re, err := regexp.Compile(pattern); err == nil {
		return &linear{re: re, literals: sync.OnceValue(func() [][]string { return findLiterals(pattern) })}, nil
	}
	re, err := regexp2.Compile(pattern, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		if re, err = regexp2.Compile(pattern, regexp2.ECMAScript); err != nil {
			return nil, errors.New(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	}
	re.MatchTimeout = matchTimeout
	if noClock {
		re.MatchTimeout = regexp2.DefaultMatchTimeout
	}
	return &backtracking{re: re, pattern: pattern}, nil
}

// isRegex reports whether a text is a pattern.
func isRegex(text string) bool {
	_, err := compilePattern(text, true)
	return err == nil
}

// linear is a pattern whose matches take time in proportion to the text.
type linear struct {
	re       *regexp.Regexp
	literals func() [][]string // every match contains one text of each list; derived on first use
}

// longText is the length in bytes from which a search for literals is worth its time.
const longText = 32

func (l *linear) match(text string) (bool, error) {
	if len(text) >= longText {
		for _, needed := range l.literals() {
			if !containsAny(text, needed) {
				return false, nil
			}
		}
	}
	return l.re.MatchString(text), nil
}

// backtracking is a pattern that RE2 does not support.
type backtracking struct {
	re      *regexp2.Regexp
	pattern string
}

func (b *backtracking) match(text string) (bool, error) {
	ok, err := b.re.MatchString(text)
	if err != nil {
		return false, fmt.Errorf("check against the schema: pattern %s took longer than %v on %s",
			b.pattern, matchTimeout, jsonv.String(text).Short(60))
	}
	return ok, nil
}

// badPattern returns the error for a pattern in the value of a keyword.
func badPattern(p Place, pattern string, err error) *Error {
	return errorAt(p, "bad regular expression %q: %v", pattern, err)
}
