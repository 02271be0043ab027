package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns the compiled expression, which is safe for concurrent use.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
