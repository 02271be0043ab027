package aql

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/reference"
	"mcptest/internal/mcpaql/verdict"
)

// A shape defines the form of a payload. Shapes are data: the validators of the
// introspection answers and of results are built from the few kinds below, and every
// part names its rule.
type shape interface {
	look(p *probe, at place, v jsonv.Value, rule string)
}

// probe collects the faults of one payload.
type probe struct {
	found []verdict.Finding
}

// place is the location of a value in the evidence, a JSON pointer (RFC 6901).
type place string

func (p place) member(key string) place { return place(jsonv.AppendPointer(string(p), key)) }
func (p place) elem(i int) place        { return p.member(strconv.Itoa(i)) }

// placeOf returns the place with the given tokens, which are plain.
func placeOf(tokens ...string) place { return place("/" + strings.Join(tokens, "/")) }

func (p *probe) add(rule string, at place, v jsonv.Value, format string, args ...any) {
	p.found = append(p.found, verdict.Finding{
		Rule:   rule,
		At:     string(at),
		Says:   fmt.Sprintf(format, args...),
		Offset: v.Offset(),
	})
}

// is reports whether a value has a kind; another kind is a fault.
func (p *probe) is(kind jsonv.Kind, at place, v jsonv.Value, rule string) bool {
	if v.Kind() != kind {
		p.add(rule, at, v, "expected %s, got %s", evidence.KindWords[kind], evidence.Describe(v))
	}
	return v.Kind() == kind
}

// objectShape is an object with known members.
type objectShape struct {
	fields []fieldShape
	// closed is the rule that unknown members violate, "" if they are allowed;
	// special contains the rules for some of them.
	closed  string
	special map[string]string
	// metadata is the rule that unknown members violate whose names begin with an
	// underscore; "" if closed applies to them.
	metadata string
}

type fieldShape struct {
	name     string
	required bool
	rule     string
	want     shape
}

func (s *objectShape) look(p *probe, at place, v jsonv.Value, rule string) {
	if !p.is(jsonv.KindObject, at, v, rule) {
		return
	}
	for _, f := range s.fields {
		m, there := v.Get(f.name)
		switch {
		case there:
			f.want.look(p, at.member(f.name), m, f.rule)
		case f.required:
			p.add(f.rule, at.member(f.name), v, "missing")
		}
	}
	if s.closed == "" && len(s.special) == 0 {
		return
	}
	for key, m := range v.Members() {
		if slices.ContainsFunc(s.fields, func(f fieldShape) bool { return f.name == key }) {
			continue
		}
		broken := s.closed
		if s.metadata != "" && strings.HasPrefix(key, "_") {
			broken = s.metadata
		}
		if r, ok := s.special[key]; ok {
			broken = r
		}
		if broken != "" {
			p.add(broken, at.member(key), m, "an undefined member")
		}
	}
}

// kind is any value of one kind.
type kind jsonv.Kind

const (
	anyObject = kind(jsonv.KindObject)
	flag      = kind(jsonv.KindBool)
)

func (k kind) look(p *probe, at place, v jsonv.Value, rule string) {
	p.is(jsonv.Kind(k), at, v, rule)
}

// anything is any JSON value.
type anything struct{}

func (anything) look(*probe, place, jsonv.Value, string) {}

// words is a text: any, non-empty, one of a list, or one that matches a pattern.
type words struct {
	filled bool
	oneOf  []string
	like   func() *regexp.Regexp
	want   string // a description of like
	is     func(string) bool
	except map[string]string // rule of a value that is wrong in a particular way
}

func (s words) look(p *probe, at place, v jsonv.Value, rule string) {
	t := v.Text()
	switch {
	case !p.is(jsonv.KindString, at, v, rule):
	case s.filled && t == "":
		p.add(rule, at, v, "expected a string that is not empty")
	case s.oneOf != nil && !slices.Contains(s.oneOf, t):
		rule = cmp.Or(s.except[t], rule)
		p.add(rule, at, v, "expected one of %s, got %s", strings.Join(s.oneOf, ", "), evidence.QuoteStart(t, 40))
	case s.like != nil && !s.like().MatchString(t), s.is != nil && !s.is(t):
		p.add(rule, at, v, "expected %s, got %s", s.want, evidence.QuoteStart(t, 40))
	}
}

// amount is a number with an optional minimum.
type amount struct {
	whole bool
	min   float64
	free  bool // no minimum
}

func (s amount) look(p *probe, at place, v jsonv.Value, rule string) {
	want := "a number"
	if s.whole {
		want = "a whole number"
	}
	if !s.free {
		want += " from " + reference.FormatNumber(s.min) + " up"
	}
	n := v.Float64()
	isBelow := !s.free && n < s.min
	isBroken := s.whole && n != math.Trunc(n)
	if v.Kind() != jsonv.KindNumber || math.IsInf(n, 0) || isBroken || isBelow {
		p.add(rule, at, v, "expected %s, got %s", want, evidence.Describe(v))
	}
}

// sequence is a list; of is the shape of each element, nil for any value. An invalid
// element breaks rule, or elemRule if it is set.
type sequence struct {
	of       shape
	elemRule string
}

func (s sequence) look(p *probe, at place, v jsonv.Value, rule string) {
	if !p.is(jsonv.KindArray, at, v, rule) || s.of == nil {
		return
	}
	for i, e := range v.Elems() {
		s.of.look(p, at.elem(i), e, cmp.Or(s.elemRule, rule))
	}
}

var (
	protocolVersion = evidence.Pattern(`^\d+\.\d+\.\d+(-[a-zA-Z0-9.-]+)?$`)
	errorCode       = evidence.Pattern(`^[A-Z][A-Z0-9_]*$`)
	dateTime        = evidence.Pattern(`^(\d{4}-\d\d-\d\d)[tT` + reference.Blank + `](\d\d):(\d\d):(\d\d(?:\.\d+)?)([zZ]|([+-])(\d\d)(?::?(\d\d))?)$`)
)

// isDateTime accepts RFC 3339 and the additional forms that the prototype accepts:
// one white space in place of T, offsets without colon or minutes, and a leap second
// wherever UTC could have one.
func isDateTime(s string) bool {
	m := dateTime().FindStringSubmatch(s)
	if m == nil {
		return false
	}
	if _, err := time.Parse(time.DateOnly, m[1]); err != nil {
		return false
	}
	hour, minute, sign := countDigits(m[2]), countDigits(m[3]), 1
	second, _ := strconv.ParseFloat(m[4], 64)
	offHour, offMinute := countDigits(m[7]), countDigits(m[8])
	if m[6] == "-" {
		sign = -1
	}
	if offHour > 23 || offMinute > 59 {
		return false
	}
	if hour <= 23 && minute <= 59 && second < 60 {
		return true
	}
	utcMinute := minute - sign*offMinute
	utcHour := hour - sign*offHour
	if utcMinute < 0 {
		utcHour--
	}
	return (utcHour == 23 || utcHour == -1) && (utcMinute == 59 || utcMinute == -1) && second < 61
}

func countDigits(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
