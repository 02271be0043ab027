package protocol

import "bytes"

// Asking is the kind of response that sent bytes expect.
type Asking uint8

const (
	// AsksUnclearly means bytes that are not a message. JSON-RPC requires an
	// error response with the id null, which many servers do not send.
	AsksUnclearly Asking = iota
	// AsksResponse means a request.
	AsksResponse
	// AsksNothing means a notification or a response.
	AsksNothing
)

// Asks reports whether bytes that are sent unchanged contain a request.
func Asks(raw []byte) Asking {
	raw = TrimSpace(raw)
	sc := NewScanner()
	err := sc.Scan(raw)
	switch {
	case len(raw) > 0 && raw[0] == '[':
		return AsksResponse // a batch
	case err != nil:
		for line := range bytes.Lines(raw) { // on stdio, each line is a message
			if len(line) < len(raw) && Asks(line) == AsksResponse {
				return AsksResponse
			}
		}
		return AsksUnclearly
	case sc.Has&(HasID|HasMethod) == HasID|HasMethod:
		return AsksResponse
	case sc.Has&HasMethod != 0 || sc.IsResponse():
		return AsksNothing
	}
	return AsksUnclearly
}
