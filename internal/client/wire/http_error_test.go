package wire_test

import (
	"errors"
	"testing"

	"mcptest/internal/base/testkit"
	"mcptest/internal/client/wire"
)

// A server that sends text as soon as a client connects, such as SSH: depending on the
// time, net/http reports it before it has sent the request.
func TestTextBeforeTheRequest(t *testing.T) {
	err := &wire.ConnectError{URL: "http://127.0.0.1:1", Err: errors.New("readLoopPeekFailLocked: %!w(<nil>)")}
	testkit.Equal(t, "message", err.Error(), "http://127.0.0.1:1: the response is not HTTP: malformed HTTP response before the request")
}
