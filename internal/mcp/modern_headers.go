package mcp

import (
	"encoding/base64"
	"net/http"
)

// modernHeaders sets the headers that repeat parts of a message (MCP
// 2026-07-28 transports).
func modernHeaders(h http.Header, out *Outgoing) {
	if out.Method == "" {
		return
	}
	h["Mcp-Method"] = []string{headerValue(out.Method)}
	if name := out.Name(); name != "" {
		h["Mcp-Name"] = []string{headerValue(name)}
	}
}

// headerValue writes text as a header: as it stands when it is plain ASCII that
// survives a header, else in base64 between =?base64? and ?=.
func headerValue(s string) string {
	if plainHeader(s) {
		return s
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}

func plainHeader(s string) bool {
	if s == "" {
		return true
	}
	for i := range len(s) {
		if c := s[i]; c < 0x20 && c != '\t' || c > 0x7e {
			return false
		}
	}
	if s[0] == ' ' || s[0] == '\t' || s[len(s)-1] == ' ' || s[len(s)-1] == '\t' {
		return false
	}
	const pre, post = "=?base64?", "?="
	return !(len(s) >= len(pre)+len(post) && s[:len(pre)] == pre && s[len(s)-len(post):] == post)
}
