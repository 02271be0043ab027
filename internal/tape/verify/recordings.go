package verify

import (
	"errors"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/surface"
	"mcptest/internal/tape/cassette"
)

// other is the cassette in which the requests of another one are looked up.
type other struct {
	c       *cassette.Cassette
	player  *cassette.Player
	clients map[int]*cassette.Client // by session
}

// take returns the recording of a request.
func (o *other) take(call *cassette.Call, request jsonv.Value) (*cassette.Call, *cassette.Miss) {
	if o.clients[call.Session] == nil {
		o.clients[call.Session] = o.player.Client(call.Session)
	}
	return o.clients[call.Session].Take(request.Append(nil))
}

// send returns what is recorded for a request.
func (o *other) send(call *cassette.Call, request, _ jsonv.Value) (outcome, error) {
	found, miss := o.take(call, request)
	switch {
	case miss != nil:
		return outcome{err: absent(miss.Error())}, nil
	case found == nil || found.Response == nil || found.Response.Omitted > 0:
		return outcome{err: absent(o.c.File + " has no complete response to it")}, nil
	}
	_, response := o.c.Exchange(found)
	out, _ := listRecorded(o.c, found)
	out.result = response.Lookup("result")
	if e := response.Lookup("error"); !e.IsAbsent() {
		out.err = protocol.ParseRPCError(e.Append(nil))
	}
	return out, o.c.Err()
}

// CompareRecordings compares the recordings of the same requests in two cassettes. Of the
// second report only the lists and the handshake matter: they are those of b. unused
// are the requests that only b has, as text for people.
func CompareRecordings(a, b *cassette.Cassette) (r, now *Report, unused []string, err error) {
	player, err := cassette.NewPlayer(b, secret.NewRedactor())
	if err != nil {
		return nil, nil, nil, err
	}
	calls, err := a.Calls()
	if err != nil {
		return nil, nil, nil, err
	}
	o := &other{c: b, player: player, clients: map[int]*cassette.Client{}}
	r = newReport()
	err = r.compareResponses(a, calls, source{
		mask: func(s string) string { return s },
		send: o.send,
		list: func(call *cassette.Call, kind surface.List) error {
			request, _ := a.Exchange(call)
			out, err := o.send(call, request, jsonv.Value{})
			if refused, ok := errors.AsType[*protocol.RPCError](out.err); ok {
				r.Sent++
				r.reportLost(call, kind, refused)
			}
			return err
		},
	})
	if err != nil {
		return nil, nil, nil, err
	}
	was, old := listBetweenCalls(a, calls)
	idle, others := listBetweenCalls(b, player.Calls())
	if err := a.Err(); err != nil {
		return nil, nil, nil, err
	}
	if err := b.Err(); err != nil {
		return nil, nil, nil, err
	}
	add(idle, was, -1)
	r.asked.was, r.asked.now = append(r.asked.was, old...), append(r.asked.now, others...)
	r.finish(idle, b.Stable)
	for _, call := range player.ListUnused() {
		unused = append(unused, player.Shown(call))
	}
	now = newReport()
	sendNothing := func(*cassette.Call, jsonv.Value, jsonv.Value) (outcome, error) {
		return outcome{err: absent("")}, nil
	}
	err = now.compareResponses(b, player.Calls(), source{send: sendNothing})
	return r, now, unused, err
}
