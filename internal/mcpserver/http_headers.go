package mcpserver

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
)

// headerFault says which header does not repeat what the message says (MCP
// 2026-07-28 transports), "" for none. What is missing from _meta is not its
// business.
func (s *HTTPServer) headerFault(h http.Header, req *Request) string {
	version := protocol.TextOf(protocol.MemberOf(protocol.MemberOf(req.Params, "_meta"), protocol.MetaVersion))
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

// paramFault looks at the arguments that the tool's schema has repeated in
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

// repeats says how a header differs from what it has to repeat, "" for not at
// all; given is false for an argument that is left out, whose header must be
// left out as well.
func repeats(h http.Header, name, want string, given bool) string {
	all := h.Values(name)
	switch {
	case len(all) == 0 && !given:
		return ""
	case len(all) == 0:
		return fmt.Sprintf("%s is missing, the message has %q", name, want)
	case len(all) > 1:
		return fmt.Sprintf("%s is there %d times", name, len(all))
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

// headerPlain undoes headerValue. What is not between =?base64? and ?=
// is taken as it is.
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

// sameNumber reports whether a header and an argument are two ways to write one
// number.
func sameNumber(h http.Header, name string, val []byte) bool {
	if protocol.KindOf(val) != jsonv.KindNumber {
		return false
	}
	a, err := strconv.ParseFloat(h.Get("Mcp-Param-"+name), 64)
	b, err2 := strconv.ParseFloat(string(val), 64)
	return err == nil && err2 == nil && a == b
}
