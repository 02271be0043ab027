package suite

import "net/http"

// Replaced says which header of a server's requests mcptest replaces with its own; "" for none.
func Replaced(name string) string {
	switch name = http.CanonicalHeaderKey(name); name {
	case "Mcp-Session-Id":
		return name + " is replaced with the id that the server gives"
	case "Mcp-Protocol-Version":
		return name + " is replaced with the negotiated version"
	case "Mcp-Method", "Mcp-Name":
		return name + " is replaced with that of each request in 2026-07-28"
	}
	return ""
}

// Unsent says why a header of a suite would not be sent as it is written; "" if it would be. The
// framing of a request follows from its body.
func Unsent(name, value string, removed bool) string {
	switch name = http.CanonicalHeaderKey(name); name {
	case "Content-Length", "Transfer-Encoding", "Trailer":
		return name + " can't be set: it follows from the body, and would not be sent as it is written"
	case "Host":
		if removed || value == "" {
			return "Host can't be removed or empty: HTTP requires it"
		}
	case "Connection":
		if removed {
			return "Connection can't be removed"
		}
	}
	return ""
}
