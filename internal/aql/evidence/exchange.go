package evidence

import (
	"strconv"
	"strings"

	"mcptest/internal/jsonv"
	"mcptest/internal/shellwords"
)

// Exchange is the call that shows a finding of a live run.
type Exchange struct {
	Tool      string      `member:"tool"`
	Arguments jsonv.Value `member:"arguments"`
	Answer    jsonv.Value `member:"answer"`
	MS        float64
	Repeat    string `member:"repeat,omitempty"` // a command line that repeats the call, "" if unknown
}

// CallBehind returns the number of the call that a place is based on, 0 if there is
// none.
func (e *Evidence) CallBehind(at string) int {
	parts := strings.Split(strings.TrimPrefix(at, "/"), "/")
	index := func(i int) int {
		if i >= len(parts) {
			return -1
		}
		n, err := strconv.Atoi(parts[i])
		if err != nil {
			return -1
		}
		return n
	}
	switch parts[0] {
	case "error_tests":
		return caseCall(e.ErrorTests, index(1), func(c ErrorCase) int { return c.Call })
	case "round_trip_tests":
		return caseCall(e.RoundTrips, index(1), func(c FieldsCase) int { return c.Call })
	case "update_preservation_tests":
		return caseCall(e.Updates, index(1), func(c FieldsCase) int { return c.Call })
	case "constraint_tests":
		return caseCall(e.Constraints, index(1), func(c ConstraintCase) int { return c.Call })
	case "parameter_tests":
		switch {
		case len(parts) < 2:
		case parts[1] == "missing_required":
			return caseCall(e.MissingRequired, index(2), func(c ParameterCase) int { return c.Call })
		case parts[1] == "unknown_parameter":
			return caseCall(e.UnknownParameter, index(2), func(c ParameterCase) int { return c.Call })
		case parts[1] == "optional_defaults":
			return caseCall(e.OptionalDefaults, index(2), func(c DefaultCase) int { return c.Call })
		}
	case "introspection":
		return e.introspectionCall(parts, index(2))
	case "x_live":
		if len(parts) >= 3 && parts[1] == "transcript" {
			return index(2) + 1
		}
		if len(parts) >= 5 && parts[1] == "tests" {
			n, _ := e.Live.Lookup("tests").At(index(2)).Lookup("findings").At(index(4)).Lookup("call").Int64()
			return int(n)
		}
	}
	return 0
}

func caseCall[T any](cases []T, i int, call func(T) int) int {
	if i < 0 || i >= len(cases) {
		return 0
	}
	return call(cases[i])
}

// introspectionCall returns the first call that requested a part of the
// introspection.
func (e *Evidence) introspectionCall(parts []string, i int) int {
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
	x := &Exchange{Tool: t.Lookup("tool").Text(), Arguments: t.Lookup("arguments"), Answer: t.Lookup("answer"), MS: t.Lookup("ms").Float64()}
	args := x.Arguments.String()
	// Arguments that were not stored completely cannot be sent again.
	incomplete := !x.Arguments.Lookup("x_bytes").IsAbsent() || strings.Contains(args, redacted)
	if begin := e.Live.Lookup("repeat").Text(); begin != "" && !incomplete {
		x.Repeat = begin + " " + shellwords.Quote(x.Tool)
		if !x.Arguments.IsAbsent() {
			x.Repeat += " " + shellwords.Quote(args)
		}
	}
	return x
}
