package mcp

import (
	"bytes"
	"net/http"
	"strings"
)

// losesSession reports whether an HTTP response to a request that carried a
// session id says that the session is gone. In a revision with sessions 404
// means that whatever the body is (MCP 2025-11-25 transports, session
// management); only a body that names another reason, an unknown method, is
// believed. Servers that were started again also answer 400 in words.
func losesSession(status int, body []byte) bool {
	rpc := rpcErrorOf(body)
	switch status {
	case http.StatusNotFound:
		return rpc == nil || rpc.Code != CodeMethodNotFound
	case http.StatusBadRequest:
		text := body[:min(len(body), bodyExcerpt)]
		if rpc != nil {
			text = []byte(rpc.Message)
		}
		return deniesSession(string(bytes.ToLower(text)))
	}
	return false
}

// deniesSession recognises, in lower case, what servers say of a session that
// they do not know.
func deniesSession(text string) bool {
	for _, words := range []string{
		"no valid session", "invalid session", "invalid or missing session", "missing or invalid session",
		"unknown session", "session not found", "no such session", "session expired", "session has been terminated",
		"server not initialized",
	} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}
