package boundary

import (
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/wire"
)

// Each request of a body must have its response; what came in its place is named.
func TestFindResponse(t *testing.T) {
	t.Parallel()
	const one, two = `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":2,"method":"b"}]`
	for _, x := range []struct{ sent, came, missing string }{
		{one, `{"jsonrpc":"2.0","id":1,"result":{}}`, ""},
		{one, `{"jsonrpc":"2.0","id":1.0,"result":{}}`, ""},
		{one, `{"jsonrpc":"2.0","error":{"code":-32600}}`, ""},
		{one, `{"jsonrpc":"2.0","id":1,"error":null,"result":{}}`, ""},
		{one, `{"jsonrpc":"2.0","id":"1","result":{}}`, `the response has the id "1"`},
		{one, `{"jsonrpc":"2.0","id":1}`, "HTTP status 200, and the body has neither a result nor an error"},
		{one, `{"jsonrpc":"1.0","id":1,"result":{}}`, `HTTP status 200, and the body has no "jsonrpc": "2.0"`},
		{one, `{"jsonrpc":"2.0","id":1,"error":"boom"}`, `HTTP status 200, and its error is not an object: "boom"`},
		{one, `{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, "HTTP status 200, and the message has a method, which no response has"},
		{one, `[{"jsonrpc":"2.0","id":1,"result":{}}]`, "HTTP status 200, and the body is a list, not a message"},
		{two, `[{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":1,"result":{}}]`, ""},
		{two, `[{"jsonrpc":"2.0","id":1,"result":{}}]`, "the others have one"},
		{two, `[{"jsonrpc":"2.0","id":2,"result":{}}]`, "the others have one"},
		{two, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600}}`, ""},
		{two, `[]`, "HTTP status 200 with a body of type application/json"},
	} {
		v, err := jsonv.Parse([]byte(x.came))
		if err != nil {
			t.Fatal(err)
		}
		a := answer{messages: []jsonv.Value{v}, info: &wire.HTTPInfo{Status: 200, ContentType: "application/json"}, bytes: len(x.came)}
		message, missing := a.findResponse([]byte(x.sent))
		if x.missing == "" {
			if missing != "" || message.IsAbsent() {
				t.Errorf("%s: %q, %s", x.came, missing, message)
			}
			continue
		}
		if want := "there is no JSON-RPC response to the id "; len(missing) < len(want)+3 || missing[len(want)+3:] != x.missing {
			t.Errorf("%s: got %q, want … %q", x.came, missing, x.missing)
		}
	}
}
