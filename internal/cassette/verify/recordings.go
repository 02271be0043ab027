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
// are the requests that only b has, as text for people. The paths of volatile are
// ignored when requests are compared.
func Recordings(a, b *cassette.Cassette, volatile []string) (r, now *Report, unused []string, err error) {
	player, err := cassette.NewPlayer(b, volatile, secret.NewRedactor())
	if err != nil {
		return nil, nil, nil, err
	}
	clients := map[int]*cassette.Client{}
	as := func(s string) string { return s }
	r, err = compared(a, false, as, func(call *cassette.Call, request, _ jsonv.Value) (jsonv.Value, error) {
		if clients[call.Session] == nil {
			clients[call.Session] = player.Client(call.Session)
		}
		other, miss := clients[call.Session].Take(request.Append(nil))
		switch {
		case miss != nil:
			return jsonv.Value{}, absent(miss.Error())
		case other == nil || other.Response == nil || other.Response.Omitted > 0:
			return jsonv.Value{}, absent(b.File + " has no complete response to it")
		}
		_, response, err := b.Exchange(other)
		if e := response.Lookup("error"); err == nil && !e.IsAbsent() {
			return jsonv.Value{}, protocol.ParseRPCError(e.Append(nil))
		}
		return response.Lookup("result"), err
	})
	if err != nil {
		return nil, nil, nil, err
	}
	for _, call := range player.Unused() {
		unused = append(unused, player.Shown(call))
	}
	now, err = offered(b)
	return r, now, unused, err
}

// offered returns the lists and handshake of a recorded server, as far as they were
// requested.
func offered(c *cassette.Cassette) (*Report, error) {
	return compared(c, false, nil, func(*cassette.Call, jsonv.Value, jsonv.Value) (jsonv.Value, error) {
		return jsonv.Value{}, absent("")
	})
}
