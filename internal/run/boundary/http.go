package boundary

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/syserr"
	"mcptest/internal/base/web"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/run/connect"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// request is a raw HTTP request.
type request struct {
	Env
	suite.Request
}

// Request sends a raw request to the address of a server, and returns the exchange for
// the record.
func (e Env) Request(ctx context.Context, def *plan.Server, action suite.Request) (o target.Observation, x *mcp.Exchange, err error) {
	x = &mcp.Exchange{Request: action.Body, Start: time.Now()}
	o, err = request{e, action}.observe(ctx, def, x)
	x.Elapsed, x.Cause = time.Since(x.Start), err
	o.DurationMS = millis(x.Elapsed)
	return o, x, err
}

func (q request) observe(ctx context.Context, def *plan.Server, x *mcp.Exchange) (o target.Observation, err error) {
	resp, err := q.send(ctx, def, x)
	if err != nil {
		return o, err
	}
	defer resp.Body.Close()
	x.HTTP = &wire.HTTPInfo{Status: resp.StatusCode, Header: resp.Header, ContentType: resp.Header.Get("Content-Type"), Attempts: 1}
	o.HTTPStatus, o.HTTPHeaders, o.Challenge = resp.StatusCode, HeaderValue(resp.Header), x.HTTP.Challenge()
	limit := q.Connect.Limits.FillDefaults().Message
	var events []jsonv.Value
	if protocol.IsEventStream(x.HTTP.ContentType) {
		x.Response, events, err = q.readEvents(resp.Body, limit)
	} else {
		x.Response, err = io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	}
	switch {
	case len(x.Response) > limit:
		return o, fmt.Errorf("the body has more than %d bytes", limit)
	case err != nil && (ctx.Err() == nil || events == nil):
		return o, fmt.Errorf("read the body: %w", findCause(ctx, err))
	}
	err = nil
	o.ResponseBytes = len(x.Response)
	body := parseData(x.Response)
	if q.Response {
		got := answer{messages: []jsonv.Value{body}, stream: events != nil, info: x.HTTP, bytes: len(x.Response)}
		if got.stream {
			got.messages = lists.Map(events, func(e jsonv.Value) jsonv.Value { return e.Lookup("data") })
		}
		message, missing := got.findResponse(x.Request)
		events = events[:min(len(events), q.Events)]
		o.Result, o.Error, o.Unanswered = message.Lookup("result"), message.Lookup("error"), missing
	}
	o.Own = jsonv.ObjectOf("http.body", body)
	if events != nil {
		o.Own = o.Own.With("http.events", jsonv.Array(events...))
	}
	return o, nil
}

// send sends the request, with what is written and nothing else.
func (q request) send(ctx context.Context, def *plan.Server, x *mcp.Exchange) (*http.Response, error) {
	at, err := url.Parse(def.URL)
	if err == nil && q.Path != "" {
		at, err = at.Parse(q.Path)
	}
	if err != nil {
		return nil, err
	}
	x.Method = q.Method + " " + at.RequestURI()
	req, err := http.NewRequestWithContext(ctx, q.Method, at.String(), bytes.NewReader(q.Body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if q.JSON {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("User-Agent", q.Connect.UserAgent)
	if q.removes("Authorization") {
		without := *def // and no token is requested for it
		without.Auth, def = nil, &without
	}
	config, err := connect.Authorize(req, def, q.Connect)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, q.Headers)
	for _, name := range q.Removed {
		req.Header.Del(name)
	}
	if q.removes("User-Agent") {
		req.Header["User-Agent"] = []string{""} // otherwise net/http adds its own
	}
	req.Host = cmp.Or(req.Header.Get("Host"), req.Host)
	t := web.Once(config)
	t.DisableCompression = true // no Accept-Encoding
	client := &http.Client{Transport: t, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if !q.Follow || web.CheckSameOrigin(next, via) != nil {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, findCause(ctx, err)
	}
	return resp, nil
}

func (q request) removes(header string) bool {
	return slices.ContainsFunc(q.Removed, func(name string) bool { return strings.EqualFold(name, header) })
}

// findCause returns the reason why a request ended: the limit that was reached, or the error
// without the method and the address.
func findCause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("there was no response in time (limit: %w)", context.Cause(ctx))
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return syserr.Plain(u.Err)
	}
	return syserr.Plain(err)
}

// readEvents reads an event stream up to the number of events, and to the response if that is
// examined, or until it ends. It returns what was read, and its events, which are not nil.
func (q request) readEvents(body io.Reader, limit int) (raw []byte, list []jsonv.Value, err error) {
	list = []jsonv.Value{}
	p := protocol.EventParser{Limit: limit}
	want, asks := findRequests(q.Body)
	waits := q.Response && asks // for the response, after the events that are examined
	answered := false
	buf := make([]byte, 32<<10)
	for err == nil && len(raw) <= limit && !answered && (waits || len(list) < q.Events) {
		var n int
		n, err = body.Read(buf)
		raw = append(raw, buf[:n]...)
		p.Feed(buf[:n], func(e protocol.Event) {
			if answered {
				return
			}
			data := parseData(e.Data)
			list = append(list, jsonv.ObjectOf("type", cmp.Or(e.Type, "message"), "id", e.ID, "data", data))
			want.ids = slices.DeleteFunc(want.ids, func(id jsonv.Value) bool {
				_, found := want.find(id, []jsonv.Value{data})
				return found
			})
			waits = waits && len(want.ids) > 0
			answered = q.Answers != nil && q.Answers(data)
		})
	}
	if err == io.EOF {
		err = nil
	}
	if !(q.Response && asks) {
		list = list[:min(len(list), q.Events)]
	}
	return raw, list, err
}

// parseData returns data as JSON, or as text.
func parseData(data []byte) jsonv.Value {
	if v, err := jsonv.Parse(data); err == nil {
		return v
	}
	return jsonv.String(strings.ToValidUTF8(string(data), "\uFFFD"))
}
