package verify

import (
	"mcptest/internal/cassette"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/secret"
)

// absent is the reason why there is no response to compare with.
type absent string

func (a absent) Error() string { return string(a) }

// Recordings compares the recordings of the same requests in two cassettes. Of the
// second report only the lists and the handshake matter: they are those of b. unused
// are the requests that only b has, as text for people.
func Recordings(a, b *cassette.Cassette) (r, now *Report, unused []string, err error) {
	player, err := cassette.NewPlayer(b, secret.NewRedactor())
	if err != nil {
		return nil, nil, nil, err
	}
	calls, err := a.Calls()
	if err != nil {
		return nil, nil, nil, err
	}
	clients := map[int]*cassette.Client{}
	as := func(s string) string { return s }
	r = newReport()
	err = r.compared(a, calls, source{mask: as, send: func(call *cassette.Call, request, _ jsonv.Value) (outcome, error) {
		if clients[call.Session] == nil {
			clients[call.Session] = player.Client(call.Session)
		}
		other, miss := clients[call.Session].Take(request.Append(nil))
		switch {
		case miss != nil:
			return outcome{err: absent(miss.Error())}, nil
		case other == nil || other.Response == nil || other.Response.Omitted > 0:
			return outcome{err: absent(b.File + " has no complete response to it")}, nil
		}
		_, response, err := b.Exchange(other)
		if err != nil {
			return outcome{}, err
		}
		out, err := recordedWith(b, other)
		out.result = response.Lookup("result")
		if e := response.Lookup("error"); !e.IsAbsent() {
			out.err = protocol.ParseRPCError(e.Append(nil))
		}
		return out, err
	}})
	if err != nil {
		return nil, nil, nil, err
	}
	was, old, err := betweenCalls(a, calls)
	if err != nil {
		return nil, nil, nil, err
	}
	idle, others, err := betweenCalls(b, player.Calls())
	if err != nil {
		return nil, nil, nil, err
	}
	add(idle, was, -1)
	r.asked.was, r.asked.now = append(r.asked.was, old...), append(r.asked.now, others...)
	r.finish(idle, b.Stable)
	for _, call := range player.Unused() {
		unused = append(unused, player.Shown(call))
	}
	now = newReport()
	err = now.compared(b, player.Calls(), source{send: func(*cassette.Call, jsonv.Value, jsonv.Value) (outcome, error) {
		return outcome{err: absent("")}, nil
	}})
	return r, now, unused, err
}
