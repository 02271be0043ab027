package suite

import "net/http"

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
