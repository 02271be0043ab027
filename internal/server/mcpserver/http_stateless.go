package mcpserver

import (
	"net/http"

	"mcptest/internal/client/protocol"
)

// modern handles one message of a stateless revision.
func (s *HTTPServer) modern(w http.ResponseWriter, r *http.Request, req *Request) {
	switch {
	case req.Method == "":
		refuseHTTP(w, http.StatusBadRequest, protocol.CodeInvalidRequest, "this protocol version has no responses of clients")
		return
	case req.Notification:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	out := &eventOut{w: w}
	if bad := s.headerFault(r.Header, req); bad != "" {
		refuse(http.StatusBadRequest, protocol.CodeHeaderMismatch, "%s", bad).tell(out, req.ID)
		return
	}
	if admits(s.handler(), req) {
		s.free.serve(r.Context(), out, req)
	}
	if out.isSent() {
		return
	}
	select { // a handler that returns no response leaves the client waiting
	case <-r.Context().Done():
	case <-s.ctx.Done():
	}
}
