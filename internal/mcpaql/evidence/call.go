package evidence

import (
	"reflect"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/shellwords"
)

// Exchange is the call that shows a finding of a live run.
type Exchange struct {
	Tool      string      `member:"tool"`
	Arguments jsonv.Value `member:"arguments"`
	Answer    jsonv.Value `member:"answer"`
	MS        float64
	Repeat    string `member:"repeat,omitempty"` // a command line that repeats the call, "" if unknown
}

// CallBehind returns the number of the call that a place is based on, by the case or the
// live finding that it names or, for introspection, by the query; 0 if there is none.
func (e *Evidence) CallBehind(at string) int {
	parts := strings.Split(strings.TrimPrefix(at, "/"), "/")
	index := func(i int) int {
		if i < len(parts) {
			if n, err := strconv.Atoi(parts[i]); err == nil {
				return n
			}
		}
		return -1
	}
	switch {
	case parts[0] == "introspection":
		return e.findIntrospectionCall(parts, index(2))
	case parts[0] != "x_live":
		return e.findCaseCall(at, index)
	case len(parts) >= 3 && parts[1] == "transcript":
		return index(2) + 1
	case len(parts) >= 5 && parts[1] == "tests":
		finding := e.Live.Lookup("tests").At(index(2)).Lookup("findings").At(index(4))
		n, _ := finding.Lookup("call").Int64()
		return int(n)
	}
	return 0
}

// findCaseCall returns the call of the case that a place is in, 0 if it is in none.
func (e *Evidence) findCaseCall(at string, index func(int) int) int {
	v := reflect.ValueOf(*e)
	for _, m := range listMembers(v.Type()) {
		list := v.Field(m.index)
		path := strings.TrimPrefix(m.group+"/"+m.key, "/")
		i := index(1 + strings.Count(path, "/"))
		if strings.HasPrefix(at, "/"+path+"/") && list.Kind() == reflect.Slice && i >= 0 && i < list.Len() {
			if list.Type().Elem().Kind() == reflect.Struct {
				if call := list.Index(i).FieldByName("Call"); call.IsValid() {
					return int(call.Int())
				}
			}
		}
	}
	return 0
}

// findIntrospectionCall returns the first call that requested a part of the
// introspection.
func (e *Evidence) findIntrospectionCall(parts []string, i int) int {
	query, name := "operations", ""
	switch {
	case len(parts) < 2:
		return 0
	case parts[1] == "types_list":
		query = "types"
	case parts[1] == "operation_details" && i >= 0 && i < len(e.OperationDetails):
		name = ReadDetail(e.OperationDetails[i]).Value.Lookup("name").Text()
	}
	for k, t := range e.Live.Lookup("transcript").Elems() {
		params := t.Lookup("arguments", "params")
		if params.Lookup("query").Text() == query && params.Lookup("name").Text() == name {
			return k + 1
		}
	}
	return 0
}

// Exchange returns the exchange with the given number in the transcript, counted from
// 1, or nil.
func (e *Evidence) Exchange(n int) *Exchange {
	t := e.Live.Lookup("transcript").At(n - 1)
	if n < 1 || t.IsAbsent() {
		return nil
	}
	x := &Exchange{
		Tool:      t.Lookup("tool").Text(),
		Arguments: t.Lookup("arguments"),
		Answer:    t.Lookup("answer"),
		MS:        t.Lookup("ms").Float64(),
	}
	args := x.Arguments.String()
	// Arguments that were not stored completely cannot be sent again.
	incomplete := !x.Arguments.Lookup("x_bytes").IsAbsent() || strings.Contains(args, redacted)
	if begin := e.Live.Lookup("repeat").Text(); begin != "" && !incomplete {
		x.Repeat = begin + " " + shellwords.QuoteForShell(x.Tool)
		if !x.Arguments.IsAbsent() {
			x.Repeat += " " + shellwords.QuoteForShell(args)
		}
	}
	return x
}
