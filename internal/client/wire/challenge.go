package wire

import (
	"fmt"
	"net/http"
	"strings"

	"mcptest/internal/base/lazy"
	"mcptest/internal/client/protocol"
)

// challengeParam matches a parameter of WWW-Authenticate.
var challengeParam = lazy.Regexp(`(?i)\b(error|error_description|scope)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))`)

// Challenge says what a server that refuses a request asks for in WWW-Authenticate: the
// scopes and the reason, with the status before it; "" if it says nothing.
func (i *HTTPInfo) Challenge() string {
	if i == nil {
		return ""
	}
	text := describeChallenge(i)
	if text == "" {
		return ""
	}
	return fmt.Sprintf("HTTP %d%s", i.Status, text)
}

// describeChallenge is Challenge without the status: it begins with ": ", or is "".
func describeChallenge(info *HTTPInfo) string {
	if info.Status < http.StatusBadRequest {
		return ""
	}
	params := map[string]string{}
	for _, value := range info.Header.Values("WWW-Authenticate") {
		for _, m := range challengeParam().FindAllStringSubmatch(value, -1) {
			text := strings.ReplaceAll(m[2], `\"`, `"`) + m[3]
			if name := strings.ToLower(m[1]); params[name] == "" && text != "" {
				params[name] = protocol.Excerpt([]byte(text))
			}
		}
	}
	why, scope := params["error_description"], params["scope"]
	text := ""
	reason := params["error"]
	switch {
	case reason == "insufficient_scope":
		text = ": the token lacks a scope"
	case reason != "":
		text = ": " + reason
	case why == "" && scope == "":
		return ""
	}
	if scope != "" {
		text += ": the server asks for " + scope
	}
	if why != "" {
		text += " (" + why + ")"
	}
	return text
}
