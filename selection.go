package mcptest

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"mcptest/internal/base/shellwords"
	"mcptest/internal/spec/plan"
)

// selection predicts which subtests package testing will run, so that the run can
// skip the other cases. If it is not certain, it selects the case: a case without a
// subtest costs time, but a subtest without a case has no result.
type selection struct {
	parent    []string // elements of the parent test's name
	run, skip [][]*regexp.Regexp
}

// newSelection reads the flags -run and -skip.
func newSelection(parent string) selection {
	return selection{strings.Split(parent, "/"), patterns(testFlag("run")), patterns(testFlag("skip"))}
}

// testFlag returns the value of a flag of the test binary, or "" if it is not
// defined.
func testFlag(name string) string {
	if f := flag.Lookup("test." + name); f != nil {
		return f.Value.String()
	}
	return ""
}

// part reports whether the flags may select only some of the subtests.
func (s selection) part() bool {
	return len(s.skip) > 0 || slices.ContainsFunc(s.run, func(list []*regexp.Regexp) bool { return len(list) > len(s.parent) })
}

// has reports whether package testing will run the subtest called name.
func (s selection) has(name string) bool {
	elements := append(s.parent[:len(s.parent):len(s.parent)], strings.Split(name, "/")...)
	return (len(s.run) == 0 || matches(s.run, elements, false)) && !matches(s.skip, elements, true)
}

// matches reports whether each element matches its regular expression in one of the
// alternatives. If whole is set, an alternative must not have more expressions than
// there are elements.
func matches(alternatives [][]*regexp.Regexp, elements []string, whole bool) bool {
	for _, list := range alternatives {
		ok := !whole || len(list) <= len(elements)
		for i, re := range list {
			ok = ok && (i >= len(elements) || re == nil && !whole || re != nil && re.MatchString(elements[i]))
		}
		if ok {
			return true
		}
	}
	return false
}

// patterns splits the value of -run or -skip. Outside of brackets, alternatives are
// separated by | and expressions by /. An expression that cannot be parsed is nil.
func patterns(value string) (out [][]*regexp.Regexp) {
	if value == "" {
		return nil
	}
	var list []*regexp.Regexp
	class, group, from := 0, 0, 0
	add := func(to int) {
		expr := subtestName(value[from:to])
		re, err := regexp.Compile(expr)
		if err != nil || strings.Contains(expr, "#") { // may be the suffix of a duplicate name
			re = nil
		}
		list = append(list, re)
		from = to + 1
	}
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case c == '\\':
			i++
		case c == '[':
			class++
		case c == ']':
			class = max(0, class-1)
		case class > 0:
		case c == '(':
			group++
		case c == ')':
			group--
		case group == 0 && (c == '/' || c == '|'):
			if add(i); c == '|' {
				out, list = append(out, list), nil
			}
		}
	}
	add(len(value))
	return append(out, list)
}

// subtestNames returns the names of the cases as package testing writes them. Equal
// ones get a suffix.
func subtestNames(p *plan.Plan) []string {
	out, count := make([]string, p.Len()), map[string]int{}
	for i := range out {
		out[i] = subtestName(p.Name(i))
		if n := count[out[i]]; n > 0 {
			out[i] += fmt.Sprintf("#%02d", n)
		}
		count[subtestName(p.Name(i))]++
	}
	return out
}

func subtestName(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case unicode.IsSpace(r):
			b.WriteByte('_')
		case !strconv.IsPrint(r):
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// rerun returns the command that runs one test or subtest again.
func rerun(names ...string) string {
	elements := strings.Split(subtestName(strings.Join(names, "/")), "/")
	for i, e := range elements {
		elements[i] = "^" + regexp.QuoteMeta(e) + "$"
	}
	return "go test -run " + shellwords.Quote(strings.Join(elements, "/"))
}
