package mcpserver

import (
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A message that a handler sends as its response is written either precedes the
// response on a stream or is refused: the response is never lost.
func TestEventDuringTheResponse(t *testing.T) {
	const event, response = `{"method":"n"}`, `{"id":1}`
	for range 20_000 {
		w := httptest.NewRecorder()
		out := &eventOut{w: w}
		var wg sync.WaitGroup
		wg.Go(func() { _ = out.event([]byte(event)) })
		out.last([]byte(response), 200)
		wg.Wait()
		body := w.Body.String()
		if w.Header().Get("Content-Type") == "application/json" && body == response ||
			strings.HasSuffix(body, "data: "+response+"\n\n") {
			continue
		}
		t.Fatalf("content type %s, body %q", w.Header().Get("Content-Type"), body)
	}
}
