package explain

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/report/result"
)

// request is what a frame asks a server for.
type request struct {
	Method string
	Params struct {
		Name, URI string
		Arguments json.RawMessage
	}
}

// requestOf parses the request of an exchange. The record may have a part of it only.
func requestOf(x *result.Exchange) (f request, ok bool) {
	ok = len(x.Request) <= mostParsed && json.Unmarshal([]byte(x.Request), &f) == nil
	return f, ok
}

// FindQuestion returns what a request asks for, with its arguments: search {"limit":3}. It
// is empty if the record has only a part of the frame.
func FindQuestion(x *result.Exchange) string {
	f, ok := requestOf(x)
	if !ok {
		return ""
	}
	return strings.TrimSpace(f.Params.Name + f.Params.URI + " " + string(f.Params.Arguments))
}

// Command returns a command line that sends a request of a case alone, or "" if no
// command does. The result is escaped like a shell command, not for display.
func Command(r *result.Run, c *result.Case, x *result.Exchange) string {
	f, ok := requestOf(x)
	if c.Server == "" || !ok {
		return ""
	}
	words := []string{"mcptest"}
	switch f.Method {
	case "tools/call":
		words = append(words, "call", f.Params.Name)
		if args := string(f.Params.Arguments); args != "" && args != "{}" {
			words = append(words, "--args-json", display.JSON(args))
		}
	case "resources/read":
		words = append(words, "resources", f.Params.URI)
	case "prompts/get":
		words = append(words, "prompts", f.Params.Name)
		var args map[string]string
		if json.Unmarshal(f.Params.Arguments, &args) != nil && f.Params.Arguments != nil {
			return "" // not what the protocol allows, nor the command
		}
		for _, name := range slices.Sorted(maps.Keys(args)) {
			words = append(words, "--arg", name+"="+args[name])
		}
	case "tools/list", "resources/list", "prompts/list":
		words = append(words, strings.TrimSuffix(f.Method, "/list"))
	default:
		return ""
	}
	if slices.Contains(words, "") {
		return ""
	}
	words = append(words, "--server", c.Server, "--config", filepath.ToSlash(FindSuiteFile(c, r.Suites)))
	run, _ := shellwords.Argv(r.Command) // what it set is needed again
	for i, w := range run {
		flag, _, whole := strings.Cut(w, "=")
		switch {
		case flag != "--var" && flag != "--env-file":
		case whole:
			words = append(words, w)
		case i+1 < len(run):
			words = append(words, w, run[i+1])
		}
	}
	return shellwords.QuoteAllForShell(words)
}

// expectedFrom introduces the assertion that accepts a refusal, in a message.
const expectedFrom = "; if that is expected: "

// Hint splits the message of a refusal into the error and the assertion that accepts
// it, which is empty for other messages.
func Hint(message string) (text, assertion string) {
	text, after, _ := strings.Cut(message, expectedFrom)
	assertion, more, _ := strings.Cut(after, "; ")
	if strings.HasSuffix(assertion, "…") {
		assertion = "" // shortened with the message
	}
	if more != "" {
		text += "; " + more
	}
	return text, assertion
}
