package mcpserver

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
)

// headerFault describes a header that does not repeat its value in the message (MCP
// 2026-07-28 transports); it returns "" if there is none. Missing members of _meta
// are reported elsewhere.
func (s *HTTPServer) headerFault(h http.Header, req *Request) string {
	version := protocol.VersionIn(req.Params)
	if version == "" {
		return ""
	}
	if got := h.Get("Mcp-Protocol-Version"); got != version {
		return fmt.Sprintf("MCP-Protocol-Version is %q, _meta says %q", got, version)
	}
	if !protocol.VersionOf(version).Stateless {
		return "" // refused for its version
	}
	if bad := repeats(h, "Mcp-Method", req.Method, true); bad != "" {
		return bad
	}
	if name := protocol.NameOf(req.Method, req.Params); name != "" {
		if bad := repeats(h, "Mcp-Name", name, true); bad != "" {
			return bad
		}
	}
	if req.Method != "tools/call" {
		return ""
	}
	return s.paramFault(h, req)
}

// paramFault checks the arguments that the tool's schema requires to be repeated in
// headers. A tool whose annotations are invalid has none.
func (s *HTTPServer) paramFault(h http.Header, req *Request) string {
	schemer, ok := s.handler().(SchemaProvider)
	if !ok {
		return ""
	}
	headers, fault := protocol.ParamHeaders(schemer.InputSchema(protocol.TextOf(protocol.MemberOf(req.Params, "name"))))
	if fault != "" {
		return ""
	}
	for _, p := range headers {
		val := protocol.MemberOf(req.Params, "arguments")
		for _, key := range p.Path {
			val = protocol.MemberOf(val, key)
		}
		text, given := protocol.HeaderText(val)
		if bad := repeats(h, "Mcp-Param-"+p.Name, text, given); bad != "" && !(given && sameNumber(h, p.Name, val)) {
			return bad
		}
	}
	return ""
}

// repeats describes how a header differs from the value that it must repeat; it
// returns "" if it does not. given is false for an omitted argument, whose header
// must be omitted as well.
func repeats(h http.Header, name, want string, given bool) string {
	all := h.Values(name)
	switch {
	case len(all) == 0 && !given:
		return ""
	case len(all) == 0:
		return fmt.Sprintf("%s is missing, the message has %q", name, want)
	case len(all) > 1:
		return fmt.Sprintf("%s occurs %d times", name, len(all))
	case !given:
		return fmt.Sprintf("%s is %q, and the message has no such value", name, all[0])
	}
	got, ok := headerPlain(all[0])
	switch {
	case !ok:
		return fmt.Sprintf("%s is %q, which is neither plain ASCII nor valid base64", name, all[0])
	case got != want:
		return fmt.Sprintf("%s is %q, the message has %q", name, got, want)
	}
	return ""
}

// headerPlain decodes the result of headerValue. A value that is not between
// =?base64? and ?= is returned unchanged.
func headerPlain(v string) (string, bool) {
	v = strings.Trim(v, " \t")
	if text, ok := strings.CutPrefix(v, "=?base64?"); ok {
		if text, ok := strings.CutSuffix(text, "?="); ok {
			b, err := base64.StdEncoding.Strict().DecodeString(text)
			return string(b), err == nil
		}
	}
	for i := range len(v) {
		if c := v[i]; c < 0x20 && c != '\t' || c > 0x7e {
			return "", false
		}
	}
	return v, true
}

// sameNumber reports whether a header and an argument represent the same number.
func sameNumber(h http.Header, name string, val []byte) bool {
	if protocol.KindOf(val) != jsonv.KindNumber {
		return false
	}
	a, err := strconv.ParseFloat(h.Get("Mcp-Param-"+name), 64)
	b, err2 := strconv.ParseFloat(string(val), 64)
	return err == nil && err2 == nil && a == b
}
