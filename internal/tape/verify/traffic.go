package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/diff"
	"mcptest/internal/offer/surface"
	"mcptest/internal/tape/cassette"
)

// outcome is what a request led to.
type outcome struct {
	result  jsonv.Value
	err     error
	crashed bool
	during  map[string]int // notifications of the server
	asked   []asked        // its requests to the client
	own     map[string]int // of during: on the HTTP stream of the request; nil: not known
}

// listRecorded returns what the server sent with a recorded call in addition to its
// response: until the response, and outside of the call.
func listRecorded(c *cassette.Cassette, call *cassette.Call) (during, outside outcome) {
	during, outside = outcome{during: map[string]int{}}, outcome{during: map[string]int{}}
	if call.Stream > 0 && call.Response != nil && call.Response.Stream == call.Stream {
		during.own = map[string]int{}
	}
	in, asker := &during, call
	for _, f := range call.Frames {
		if f == call.Response || call.ID == "" || cassette.IsOverhead(call.Method) {
			in, asker = &outside, nil
		}
		data := c.Data(f)
		if f.Dir != cassette.FromServer || len(data) == 0 || data[0] != '{' {
			continue
		}
		method := protocol.TextOf(protocol.MemberOf(data, "method"))
		count(in.during, method)
		if in.own != nil && f.Stream == call.Stream {
			count(in.own, method)
		}
		if isQuestion(method) && protocol.MemberOf(data, "id") != nil {
			params, _ := jsonv.Parse(protocol.MemberOf(data, "params"))
			in.asked = append(in.asked, asked{asker, method, params})
		}
	}
	return during, outside
}

// alone reports whether all notifications with a method came on the request's own stream.
func (o outcome) alone(method string) bool { return o.own != nil && o.own[method] == o.during[method] }

// traffic compares how many notifications the server sends during calls, by method. One
// that came during another call, or between calls, is not lost:
// timing decides that.
type traffic struct {
	fewer, more map[string][]place
	idle        map[string]int // between calls: how many more there are than recorded
	own         []diff.Change  // on the streams of calls
}

// place is a call with the number of its notifications that are missing or new.
type place struct {
	call *cassette.Call
	n    int
}

// compareDuring compares the notifications during one call.
func (t *traffic) compareDuring(call *cassette.Call, recorded, now outcome) {
	all := maps.Clone(recorded.during)
	maps.Copy(all, now.during)
	for _, method := range slices.Sorted(maps.Keys(all)) {
		n := now.during[method] - recorded.during[method]
		switch {
		case n != 0 && recorded.alone(method) && now.alone(method): // no other call has them
			word := "more"
			if n < 0 {
				n, word = -n, "fewer"
			}
			t.own = append(t.own, newChange(call, diff.Review, "", fewerOrMore, n, word, method))
		case n < 0:
			t.fewer[method] = append(t.fewer[method], place{call, -n})
		case n > 0:
			t.more[method] = append(t.more[method], place{call, n})
		}
	}
}

const fewerOrMore = "the server sends %d %s %s during the call than recorded"

// listChanges returns what is lost or new.
func (t *traffic) listChanges() []diff.Change {
	out := t.own
	report := func(method, word string, places []place, n int) {
		for _, p := range places {
			if count := min(n, p.n); count > 0 {
				n -= count
				out = append(out, newChange(p.call, diff.Review, "", fewerOrMore, count, word, method))
			}
		}
	}
	for _, method := range slices.Sorted(maps.Keys(t.fewer)) {
		fewer, more := countPlaces(t.fewer[method]), countPlaces(t.more[method])
		report(method, "fewer", t.fewer[method], fewer-more-max(0, t.idle[method]))
	}
	for _, method := range slices.Sorted(maps.Keys(t.more)) {
		fewer, more := countPlaces(t.fewer[method]), countPlaces(t.more[method])
		report(method, "more", t.more[method], more-fewer-max(0, -t.idle[method]))
	}
	return out
}

func countPlaces(places []place) (n int) {
	for _, p := range places {
		n += p.n
	}
	return n
}

// add adds counts of notifications, times sign.
func add(to, counts map[string]int, sign int) {
	for method, n := range counts {
		to[method] += sign * n
	}
}

func count(in map[string]int, method string) {
	if strings.HasPrefix(method, "notifications/") {
		in[method]++
	}
}

// listBetweenCalls returns how many notifications of the server are recorded outside of
// calls, and its requests there.
func listBetweenCalls(c *cassette.Cassette, calls []*cassette.Call) (all map[string]int, requests []asked) {
	all = map[string]int{}
	for _, call := range calls {
		_, outside := listRecorded(c, call)
		add(all, outside.during, 1)
		requests = append(requests, outside.asked...)
	}
	return all, requests
}

// newChange describes a difference in the response to a call.
func newChange(call *cassette.Call, class diff.Class, pointer, format string, args ...any) diff.Change {
	return diff.Change{
		Class: class, Kind: findKind(call.Method), Name: call.Name, Pointer: pointer,
		Message: fmt.Sprintf("line %d: ", call.Request.Line) + fmt.Sprintf(format, args...),
	}
}

// describeErrorChange classifies the differences between two JSON-RPC errors.
func describeErrorChange(
	call *cassette.Call, recorded jsonv.Value, now *protocol.RPCError, hidden func(string) bool, mask func(string) string,
) (out []diff.Change) {
	review := func(format string, args ...any) {
		out = append(out, newChange(call, diff.Review, "", format, args...))
	}
	if code := recorded.Lookup("code").Literal(); code != fmt.Sprint(now.Code) {
		review("the error of %s has code %d (recorded: %s)", call.Method, now.Code, code)
	}
	if was, is := recorded.Lookup("message").Text(), mask(now.Message); was != is && !hidden(was) {
		review("the error message of %s is %q (recorded: %q)", call.Method, is, was)
	}
	data, _ := jsonv.Parse(now.Data)
	data = maskTexts(data, mask)
	old := recorded.Lookup("data")
	switch {
	case jsonv.Equal(old, data) || hidden(old.String()):
	case old.IsAbsent():
		out = append(out, newChange(call, diff.Safe, "", "the error has new data: %s", data.Short(80)))
	case data.IsAbsent():
		review("the error lacks the recorded data: %s", old.Short(80))
	default:
		review("the data of the error is %s (recorded: %s)", data.Short(80), old.Short(80))
	}
	return out
}

func findKind(method string) surface.Kind {
	what, _, _ := strings.Cut(method, "/")
	return surface.Kind(strings.TrimSuffix(what, "s"))
}
