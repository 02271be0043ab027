package skill

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/source"
)

// readsAs reports whether a reader of YAML 1.1 or 1.2 makes a JSON value of a scalar.
func readsAs(n *source.Node, v jsonv.Value) bool {
	own := n.JSON()
	switch {
	case jsonv.Equal(own, v):
		return true
	case own.Kind() == jsonv.KindNumber && v.Kind() == jsonv.KindNumber:
		return own.Float64() == v.Float64() // many readers have numbers of double precision only
	case own.Kind() == jsonv.KindString && v.Kind() == jsonv.KindString && isSameLines(own.Text(), v.Text()):
		return true
	case n.Quoted:
		return false
	}
	return readsPlainAs(n, v)
}

// isSameLines compares two texts whatever ends their lines.
func isSameLines(a, b string) bool {
	return strings.ReplaceAll(a, "\r\n", "\n") == strings.ReplaceAll(b, "\r\n", "\n")
}

// readsPlainAs has the values that a scalar without quotes has for some readers only.
func readsPlainAs(n *source.Node, v jsonv.Value) bool {
	switch v.Kind() {
	case jsonv.KindBool:
		return isOldBool(n.Text) && v.Bool() == slices.Contains(oldTrue, strings.ToLower(n.Text))
	case jsonv.KindNull:
		return notFinite().MatchString(n.Text)
	case jsonv.KindNumber:
		return slices.Contains(parseOldNumbers(n.Text), v.Float64())
	case jsonv.KindString:
		return readsTextAs(n, v.Text())
	}
	return false
}

// readsTextAs reports whether a scalar that is no text here is a given text to some readers.
func readsTextAs(n *source.Node, text string) bool {
	if at := parseTime(n.Text); !at.IsZero() && at.Equal(parseTime(text)) {
		return true
	}
	switch n.Kind {
	case source.KindFloat: // 1e3 is text in YAML 1.1
		return text == n.Text && !strings.Contains(text, ".")
	case source.KindInt: // and so is 0o17
		octal, found := strings.CutPrefix(text, "0o")
		value, err := strconv.ParseInt(octal, 8, 64)
		return found && err == nil && strconv.FormatInt(value, 10) == n.Text
	}
	return false
}

// isSpelledAs reports whether a text is how a scalar without quotes is written, to a reader
// for which every scalar is text, as the one of the specification's own library is.
func isSpelledAs(n *source.Node, v jsonv.Value) bool {
	if n.Quoted || v.Kind() != jsonv.KindString {
		return false
	}
	text := v.Text()
	switch n.Kind {
	case source.KindNull:
		return text == "" || text == "~" || strings.EqualFold(text, "null")
	case source.KindBool:
		return strings.EqualFold(text, n.Text)
	case source.KindInt, source.KindFloat:
		value, err := strconv.ParseFloat(text, 64)
		return err == nil && value == n.JSON().Float64()
	}
	return false
}

var (
	oldTrue  = []string{"y", "yes", "on"}
	oldFalse = []string{"n", "no", "off"}
)

// isOldBool reports whether a scalar is true or false in YAML 1.1 only.
func isOldBool(s string) bool {
	lower := strings.ToLower(s)
	return slices.Contains(oldTrue, lower) || slices.Contains(oldFalse, lower)
}

var (
	notFinite   = lazy.Regexp(`^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$`)
	oldInteger  = lazy.Regexp(`^[-+]?[0-9][0-9_]*$`)
	oldOctal    = lazy.Regexp(`^[-+]?0[0-7_]+$`)
	oldBinary   = lazy.Regexp(`^[-+]?0b[01_]+$`)
	oldHex      = lazy.Regexp(`^[-+]?0x[0-9a-fA-F_]+$`)
	oldFloat    = lazy.Regexp(`^[-+]?([0-9][0-9_]*)?\.[0-9_]*([eE][-+][0-9]+)?$`)
	sexagesimal = lazy.Regexp(`^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`)
)

func isOldNumber(s string) bool { return len(parseOldNumbers(s)) > 0 }

// parseOldNumbers are the numbers that a scalar is to readers that do not take it for text.
func parseOldNumbers(s string) (out []float64) {
	bare := strings.ReplaceAll(s, "_", "")
	sign := 1.0
	if strings.HasPrefix(bare, "-") {
		sign = -1
	}
	digits := strings.TrimLeft(bare, "+-")
	inBase := func(text string, base int) {
		if n, err := strconv.ParseUint(text, base, 64); err == nil {
			out = append(out, sign*float64(n))
		}
	}
	switch {
	case sexagesimal().MatchString(s):
		out = append(out, sign*parseBase60(digits))
	case oldBinary().MatchString(s):
		inBase(digits[2:], 2)
	case oldHex().MatchString(s):
		inBase(digits[2:], 16)
	case oldInteger().MatchString(s):
		if oldOctal().MatchString(s) {
			inBase(digits, 8)
		}
		if f, err := strconv.ParseFloat(bare, 64); err == nil {
			out = append(out, f)
		}
	case oldFloat().MatchString(s):
		if f, err := strconv.ParseFloat(bare, 64); err == nil {
			out = append(out, f)
		}
	}
	return out
}

// parseBase60 is the value of a number such as 1:30.
func parseBase60(s string) (value float64) {
	for part := range strings.SplitSeq(s, ":") {
		f, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return math.NaN()
		}
		value = value*60 + f
	}
	return value
}

// timeForms are how dates and times are written, in YAML and by the programs that read it.
var timeForms = []string{
	time.DateOnly, time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999",
	"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999 Z07:00",
	"2006-01-02 15:04:05.999999999 -0700 MST",
	"2006-1-2", "2006-1-2T15:4:5Z07:00", "2006-1-2 15:4:5",
}

// parseTime is the time that a text stands for, zero if it is none.
func parseTime(s string) time.Time {
	if len(s) < len("2006-1-2") || len(s) > 40 {
		return time.Time{}
	}
	for _, form := range timeForms {
		if at, err := time.Parse(form, s); err == nil {
			return at
		}
	}
	return time.Time{}
}
