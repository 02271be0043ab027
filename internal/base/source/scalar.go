package source

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/lazy"
)

// pair matches NAME=VALUE, as in Docker's files, and a line of an HTTP header.
var pair = lazy.Regexp(`^([^=:]+)(?:=|: )`)

// ReportWrongType reports a node of another kind: expected a list or a map, got text "x".
// want includes its article. The caller may set the Hint of the result.
func (d *Decoder) ReportWrongType(n *Node, path, want string) *Diagnostic {
	diag := d.Errorf(n, path, "expected %s, got %s", want, n.Describe())
	diag.Code = "type"
	switch {
	case n.Kind == KindNull:
		diag.Hint = cmp.Or(n.AfterHash(), "give it a value, or leave the key out")
	case n.Kind == KindMap && want == "a list":
		diag.Hint = "begin each entry with a hyphen: - name: …"
	case n.Kind == KindList && strings.HasPrefix(want, "a map") && len(n.Items) > 0:
		if at := pair().FindStringSubmatch(n.Items[0].Text); at != nil {
			diag.Hint = "write " + at[1] + ": …"
		} else if two := n.Items[0].Items; len(two) == 2 && two[0].IsScalar() {
			diag.Hint = "write " + two[0].Text + ": …"
		} else if name := n.Items[0].Get("name"); name != nil {
			diag.Hint = "write the name before it: " + name.Text + ": {…}, without a hyphen"
		} else if key := n.Items[0].Get("key"); key != nil {
			diag.Hint = "write " + key.Text + ": …"
		} else if n.Items[0].Kind == KindMap && len(n.Items[0].Fields) == 1 {
			only := n.Items[0].Fields[0]
			diag.Hint = "leave out the hyphens: " + only.Key.Text + ": " + only.Value.Inline()
		}
	case n.Kind == KindString && want == "a map":
		if at := pair().FindStringSubmatch(n.Text); at != nil {
			diag.Hint = "write a map: {" + at[1] + ": …}"
		}
	case n.Kind == KindMap && want == "text" && n.Get("name") != nil:
		diag.Hint = "write the name alone: " + n.Get("name").Text
	}
	return diag
}

func (d *Decoder) decodeScalar(n *Node, path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		d.decodeText(n, path, v)
	case reflect.Bool:
		d.decodeBool(n, path, v)
	default:
		d.decodeNumber(n.Typed(), path, v)
	}
}

func (d *Decoder) decodeText(n *Node, path string, v reflect.Value) {
	if text, ok := n.AsText(); ok {
		v.SetString(text)
		return
	}
	diag := d.ReportWrongType(n, path, "text")
	if n.Kind == KindBool || n.Kind == KindInt || n.Kind == KindFloat {
		diag.Hint = "put it in quotes: " + quote(display.Truncate(n.Text, shownText))
	}
}

func (d *Decoder) decodeBool(n *Node, path string, v reflect.Value) {
	n = n.Typed()
	if n.Kind == KindBool {
		v.SetBool(n.Text == "true")
		return
	}
	diag := d.ReportWrongType(n, path, "true or false")
	if b, ok := looksBoolean(n.Text); ok && n.Kind == KindString {
		diag.Hint = fmt.Sprintf("write %t", b)
		if !n.Quoted {
			diag.Hint += ": only true and false are booleans, " + n.Text + " is text"
		}
	}
}

// wantNumber reports a node that is not a valid number.
func (d *Decoder) wantNumber(n *Node, path, want string) {
	diag := d.ReportWrongType(n, path, want)
	if n.Kind != KindString {
		return
	}
	bare := strings.ReplaceAll(n.Text, "_", "")
	kind, text, note := resolvePlain(bare)
	switch {
	case note == noteLeadingZero:
		sign := strings.TrimRight(bare[:1], "+0123456789")
		if zeroless := strings.TrimLeft(bare, "+-0"); zeroless != "" {
			diag.Hint = "write " + sign + zeroless
		}
	case kind != KindInt && kind != KindFloat:
	case n.Quoted && bare == n.Text:
		diag.Hint = "write " + text + " without quotes"
	default:
		diag.Hint = "write " + text
	}
}

func (d *Decoder) decodeNumber(n *Node, path string, v reflect.Value) {
	var err error
	whole := n.Kind == KindInt
	switch {
	case v.CanFloat():
		if !whole && n.Kind != KindFloat {
			d.wantNumber(n, path, "a number")
			return
		}
		var f float64
		if f, err = strconv.ParseFloat(n.Text, v.Type().Bits()); math.IsInf(f, 0) {
			err = strconv.ErrRange
		}
		v.SetFloat(f)
	case !v.CanInt() && !v.CanUint():
		d.reportUnsupported(n, path, v.Type())
	case !whole:
		d.wantNumber(n, path, "a whole number")
	case v.CanInt():
		var i int64
		i, err = strconv.ParseInt(n.Text, 10, v.Type().Bits())
		v.SetInt(i)
	case strings.HasPrefix(n.Text, "-") && strings.Trim(n.Text, "-0") != "":
		d.ReportWrongType(n, path, "a whole number that is not negative")
	default:
		var u uint64
		u, err = strconv.ParseUint(strings.TrimPrefix(n.Text, "-"), 10, v.Type().Bits())
		v.SetUint(u)
	}
	if err != nil {
		v.SetZero()
		d.Errorf(n, path, "the %s is too large", n.Describe()).Code = "range"
	}
}

func (d *Decoder) decodeDuration(n *Node, path string, v reflect.Value) {
	const want = `a duration such as "30s"`
	switch n.Kind {
	case KindInt, KindFloat:
		diag := d.ReportWrongType(n, path, want)
		diag.Msg += " without a unit"
		diag.Hint = fmt.Sprintf("write %ss for seconds, %sms for milliseconds", display.Truncate(n.Text, shownText), display.Truncate(n.Text, shownText))
		return
	case KindString:
	default:
		d.ReportWrongType(n, path, want)
		return
	}
	got, err := ParseDuration(n.Text)
	if err != nil {
		diag := d.ReportWrongType(n, path, want)
		diag.Msg += ": " + err.Error()
		diag.Hint = "units are ms, s, m and h, as in 1m30s"
		return
	}
	v.SetInt(int64(got))
}

// ParseDuration parses a duration of a suite: numbers with units (ns, us, ms, s, m,
// h) in any order, such as 30s, 1.5s or 1m30s. It is never negative. The error is a
// phrase to follow a colon.
func ParseDuration(s string) (time.Duration, error) {
	trimmed := strings.TrimSpace(s)
	if trimmed == "" {
		return 0, errors.New("it is empty")
	}
	if strings.HasPrefix(trimmed, "-") {
		return 0, errors.New("it is negative")
	}
	got, err := time.ParseDuration(strings.ReplaceAll(trimmed, " ", ""))
	switch {
	case err == nil:
		return got, nil
	case strings.Contains(err.Error(), "missing unit"):
		return 0, errors.New("it has no unit")
	case strings.Contains(err.Error(), "unknown unit"):
		return 0, errors.New("unknown unit")
	}
	return 0, errors.New("it is not a number with a unit")
}

// listText formats a text that should have been a list as the items of one: split at
// commas, or into words unless it contains quotes.
func listText(n *Node) string {
	items := strings.Fields(n.Text)
	switch {
	case n.Kind == KindString && len(items) > 1 && strings.ContainsAny(n.Text, "|<>;&"):
		return "sh, -c, " + quote(display.Truncate(n.Text, shownText)) // a command line for a shell
	case n.Kind != KindString || strings.ContainsAny(n.Text, "'\"") || strings.Contains(n.Text, "${") && len(items) < 2:
		return hintText(n)
	case strings.Contains(n.Text, ","):
		items = strings.Split(n.Text, ",")
	}
	for i, item := range items {
		items[i] = hintText(&Node{Kind: KindString, Text: strings.TrimSpace(item)})
	}
	return strings.Join(items, ", ")
}

// hintText formats a scalar for a hint.
func hintText(n *Node) string {
	if n.Kind == KindString && (n.Quoted || strings.ContainsAny(n.Text, ",[]{}:#&*!|>'\"%@` ")) {
		return quote(display.Truncate(n.Text, shownText))
	}
	return display.Truncate(n.Text, shownText)
}
