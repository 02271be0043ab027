package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mcptest/internal/cassette"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/secret"
	"mcptest/internal/surface"
	"mcptest/internal/surface/diff"
)

// Report is the result of a verification.
type Report struct {
	Changes []diff.Change // of responses
	Sent    int
	Skipped []string // requests that were not sent, each with the reason
	// Lists are the lists of the recorded server, as far as they were requested.
	Lists map[surface.Kind][]jsonv.Value
	// Handshake is the recorded result of initialize or server/discover.
	Handshake jsonv.Value
}

// Send makes one request to the server under test.
type Send func(ctx context.Context, method string, params jsonv.Value) (jsonv.Value, error)

// Run sends the recorded requests. mask hides secrets in the server's answers as they
// are hidden in the cassette. An error means that the server could no longer be
// reached.
func Run(ctx context.Context, c *cassette.Cassette, send Send, mask func(string) string) (*Report, error) {
	return compared(c, true, mask, func(call *cassette.Call, _, params jsonv.Value) (jsonv.Value, error) {
		return send(ctx, call.Method, params)
	})
}

// compared obtains the response to each recorded request. With again, requests that
// cannot be sent a second time are skipped.
func compared(c *cassette.Cassette, again bool, mask func(string) string, send func(call *cassette.Call, request, params jsonv.Value) (jsonv.Value, error)) (*Report, error) {
	calls, err := c.Calls()
	if err != nil {
		return nil, err
	}
	r := &Report{Lists: map[surface.Kind][]jsonv.Value{}}
	for _, call := range calls {
		if call.Request == nil || call.ID == "" || call.Method == "" || call.Method == "ping" || c.Refused(call) {
			continue
		}
		skip := func(why string) {
			r.Skipped = append(r.Skipped, fmt.Sprintf("%s (line %d): %s", strings.TrimSpace(call.Method+" "+call.Name), call.Request.Line, why))
		}
		request, recorded, err := c.Exchange(call)
		if err != nil {
			return nil, err
		}
		if call.Method == "initialize" || call.Method == protocol.MethodDiscover {
			if result := recorded.Lookup("result"); r.Handshake.IsAbsent() && !result.IsAbsent() {
				r.Handshake = result
				if info := result.Lookup("_meta", protocol.MetaServer); !info.IsAbsent() {
					r.Handshake = result.With("serverInfo", info)
				}
			}
			continue
		}
		params := request.Lookup("params")
		if r.listed(call.Method, params, recorded.Lookup("result")) {
			continue
		}
		if why := unsendable(call, params, again); why != "" {
			skip(why)
			continue
		}
		if params.Kind() == jsonv.KindObject {
			params = params.Without("_meta")
		}
		live, err := send(call, request, params)
		if why := new(absent); errors.As(err, why) {
			skip(string(*why))
			continue
		}
		var refused *protocol.RPCError
		if err != nil && !errors.As(err, &refused) {
			return r, fmt.Errorf("%s (line %d of %s): %w", call.Method, call.Request.Line, c.File, err)
		}
		r.Sent++
		r.compare(call, recorded, masked(live, mask), refused, c.Stable)
	}
	return r, nil
}

// listed records the first result of a list request.
func (r *Report) listed(method string, params, result jsonv.Value) bool {
	for _, l := range surface.Lists() {
		if l.Method != method {
			continue
		}
		_, seen := r.Lists[l.Kind]
		if elems := result.Lookup(l.Member); elems.Kind() == jsonv.KindArray && (!seen || !params.Lookup("cursor").IsAbsent()) {
			r.Lists[l.Kind] = append(r.Lists[l.Kind], elems.List()...)
		}
		return true
	}
	return false
}

// unsendable returns the reason why a request cannot be repeated or compared.
func unsendable(call *cassette.Call, params jsonv.Value, again bool) string {
	switch {
	case call.Response == nil:
		return "no response is recorded"
	case call.Response.Omitted > 0:
		return "the response is too large to be in the cassette"
	case !again:
		return ""
	case strings.Contains(string(params.Append(nil)), secret.Mask):
		return "a secret in it is masked"
	case !params.Lookup("requestState").IsAbsent() || !params.Lookup("inputResponses").IsAbsent():
		return "it continues an earlier request"
	case call.Method == protocol.MethodListen || strings.HasPrefix(call.Method, "tasks/"):
		return "it depends on the state of the session"
	}
	return ""
}

// compare classifies the differences of a response. stable returns what is compared of
// a result.
func (r *Report) compare(call *cassette.Call, recorded, live jsonv.Value, refused *protocol.RPCError, stable func(jsonv.Value) jsonv.Value) {
	add := func(class diff.Class, pointer, format string, args ...any) {
		r.Changes = append(r.Changes, diff.Change{
			Class: class, Kind: kind(call.Method), Name: call.Name, Pointer: pointer,
			Message: fmt.Sprintf("line %d: ", call.Request.Line) + fmt.Sprintf(format, args...),
		})
	}
	was := recorded.Lookup("result")
	switch {
	case was.IsAbsent() && refused == nil:
		add(diff.Review, "", "the request was refused and is answered now")
		return
	case was.IsAbsent():
		if code := recorded.Lookup("error", "code").Literal(); code != fmt.Sprint(refused.Code) {
			add(diff.Review, "", "the error has code %d (recorded: %s)", refused.Code, code)
		}
		return
	case refused != nil:
		add(diff.Breaking, "", "the request was answered and is refused now: %s", refused.Message)
		return
	}
	isError := func(v jsonv.Value) bool { return v.Lookup("isError").Bool() }
	if isError(was) != isError(live) {
		if isError(live) {
			add(diff.Breaking, "/isError", "the call succeeded and reports an error now: %s", live.Lookup("content").Short(200))
		} else {
			add(diff.Review, "/isError", "the call reported an error and succeeds now")
		}
		return
	}
	for _, ch := range jsonv.Diff(stable(was), stable(live)) {
		switch {
		case ch.Kind == jsonv.Added:
			add(diff.Safe, ch.Path, "the response has a new member or element: %s", ch.Got.Short(80))
		case ch.Kind == jsonv.Removed:
			add(diff.Breaking, ch.Path, "the response lacks what was recorded: %s", ch.Want.Short(80))
		case ch.Want.Kind() != ch.Got.Kind():
			add(diff.Breaking, ch.Path, "the type is %s (recorded: %s)", ch.Got.Kind(), ch.Want.Kind())
		case !strings.Contains(ch.Want.Text(), secret.Mask):
			add(diff.Review, ch.Path, "the value is %s (recorded: %s)", ch.Got.Short(80), ch.Want.Short(80))
		}
	}
}

func kind(method string) surface.Kind {
	what, _, _ := strings.Cut(method, "/")
	return surface.Kind(strings.TrimSuffix(what, "s"))
}

// masked hides secrets in every text of a value.
func masked(v jsonv.Value, mask func(string) string) jsonv.Value {
	out, err := jsonv.Parse([]byte(mask(string(v.Append(nil)))))
	if v.IsAbsent() || err != nil {
		return v
	}
	return out
}
