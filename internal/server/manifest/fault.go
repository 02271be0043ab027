package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
)

// Fault is a misbehavior that needs no manifest. It affects the requests that do
// work: tools/call, resources/read, prompts/get. The zero value is no fault.
type Fault struct {
	Hang    bool          // they are never answered; all other requests are
	Wedged  bool          // from the first of them on no request is answered, and the end of input is ignored
	Slow    time.Duration // delay of each response
	Recover int           // number of first requests that fail
}

// faultKinds are the forms of --fault.
var faultKinds = [][2]string{
	{"none", "no fault"},
	{"hang", "calls get no response; handshake, lists and ping do"},
	{"wedged", "from the first call on no request gets a response, and the process ignores the end of its input"},
	{"slow:<ms>", "every call takes so many milliseconds longer"},
	{"recover-after:<n>", "the first n calls fail with a JSON-RPC error"},
}

// FaultKinds returns the forms of a fault, each with a description.
func FaultKinds() [][2]string { return slices.Clone(faultKinds) }

// ParseFault parses none, hang, wedged, slow:<ms> or recover-after:<n>. The error
// describes the mistake and suggests a similar word if there is one.
func ParseFault(text string) (Fault, error) {
	kind, arg, hasArg := strings.Cut(text, ":")
	var words []string
	for _, k := range faultKinds {
		word, _, _ := strings.Cut(k[0], ":")
		words = append(words, word)
	}
	if !slices.Contains(words, kind) {
		if hint := source.DidYouMean(kind, words); hint != "" {
			return Fault{}, fmt.Errorf("unknown fault %q (%s)", text, hint)
		}
		forms := lists.Map(faultKinds, func(k [2]string) string { return k[0] })
		return Fault{}, fmt.Errorf("unknown fault %q: expected %s", text, display.Alternatives(forms, "or"))
	}
	switch kind {
	case "slow", "recover-after":
		n, err := strconv.Atoi(arg)
		if !hasArg || err != nil || n < 0 {
			return Fault{}, fmt.Errorf("fault %q: expected %s with a whole number after the colon, such as %s:200", text, kind, kind)
		}
		if kind == "recover-after" {
			return Fault{Recover: n}, nil
		}
		if n > int(maxDelay/time.Millisecond) {
			return Fault{}, fmt.Errorf("fault %q: must be at most %d ms", text, maxDelay/time.Millisecond)
		}
		return Fault{Slow: time.Duration(n) * time.Millisecond}, nil
	}
	if hasArg {
		return Fault{}, fmt.Errorf("fault %q: %s takes no number", text, kind)
	}
	return Fault{Hang: kind == "hang", Wedged: kind == "wedged"}, nil
}

func decodeFault(n *source.Node, path string, d *source.Decoder) Fault {
	var text string
	d.Decode(n, path, &text)
	f, err := ParseFault(text)
	if err != nil && n.Kind == source.KindString {
		d.Errorf(n, path, "%v", err)
	}
	return f
}
