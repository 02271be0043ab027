package jsonschema

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"mcptest/internal/base/jsonv"
)

// matchTimeout bounds one match of the backtracking engine. It is time on the clock, so
// it must be far longer than a busy machine stalls.
const matchTimeout = 2 * time.Second

// newRegexEngine returns the engine for "pattern" and "patternProperties". JSON
// Schema patterns are ECMA-262. RE2 runs most of them in linear time; those that it
// does not support (lookahead, backreferences, \u escapes) run on a backtracking
// engine with a time limit.
func newRegexEngine(g *guard, limit time.Duration) jsonschema.RegexpEngine {
	known := map[string]jsonschema.Regexp{}
	return func(pattern string) (jsonschema.Regexp, error) {
		if re, ok := known[pattern]; ok {
			return re, nil
		}
		re, err := compileRegex(pattern, g, limit)
		if err == nil {
			known[pattern] = re
		}
		return re, err
	}
}

func compileRegex(pattern string, g *guard, limit time.Duration) (jsonschema.Regexp, error) {
	if re, err := regexp.Compile(pattern); err == nil {
		return re, nil
	}
	re, err := regexp2.Compile(pattern, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		if re, err = regexp2.Compile(pattern, regexp2.ECMAScript); err != nil {
			return nil, errors.New(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	}
	re.MatchTimeout = limit
	return &backtracking{re: re, pattern: pattern, guard: g}, nil
}

// backtracking is a pattern that RE2 does not support.
type backtracking struct {
	re      *regexp2.Regexp
	pattern string
	guard   *guard
}

func (b *backtracking) String() string { return b.pattern }

// MatchString notifies the guard when the match fails to finish, so that the
// validation ends with an error instead of a wrong verdict. After that, there are no
// more matches.
func (b *backtracking) MatchString(s string) bool {
	if b.guard.err != nil {
		return false
	}
	ok, err := b.re.MatchString(s)
	if err != nil {
		b.guard.err = fmt.Errorf("check against the schema: pattern %s took longer than %v on %s",
			b.pattern, matchTimeout, jsonv.String(s).Short(60))
	}
	return ok
}
