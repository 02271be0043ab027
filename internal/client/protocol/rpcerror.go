package protocol

import (
	"bytes"
	"fmt"
	"strconv"

	"mcptest/internal/base/jsonv"
)

// ParseRPCError parses the error member of a response as far as possible.
func ParseRPCError(raw []byte) *RPCError {
	e := &RPCError{}
	_ = jsonv.VisitMembers(raw, func(k string, val []byte) error {
		switch k {
		case "code":
			if n, err := strconv.ParseInt(string(val), 10, 64); err == nil {
				e.Code = n
			} else if f, err := strconv.ParseFloat(string(val), 64); err == nil {
				e.Code = int64(f)
			}
		case "message":
			e.Message = TextOf(val)
		case "data":
			e.Data = bytes.Clone(val)
		}
		return nil
	})
	return e
}

// RPCError is the error member of a JSON-RPC response.
type RPCError struct {
	Code    int64
	Message string
	Data    []byte // JSON, nil if absent
	// Challenge is what the HTTP response that it came with asks for; may be "".
	Challenge string
}

// Error returns the message with its code, and what the server asks for.
func (e *RPCError) Error() string {
	text := fmt.Sprintf("%s (code %d)", e.Message, e.Code)
	if e.Challenge != "" {
		text += "; " + e.Challenge
	}
	return text
}

// Error codes of JSON-RPC 2.0 section 5.1.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

// Codes of MCP 2026-07-28.
const (
	CodeHeaderMismatch     = -32020
	CodeMissingCapability  = -32021
	CodeUnsupportedVersion = -32022
)
