package protocol

import (
	"bytes"

	"mcptest/internal/base/jsonv"
)

// Keys of _meta (MCP 2026-07-28).
const (
	MetaVersion      = "io.modelcontextprotocol/protocolVersion"
	MetaClient       = "io.modelcontextprotocol/clientInfo"
	MetaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel     = "io.modelcontextprotocol/logLevel"
	MetaSubscription = "io.modelcontextprotocol/subscriptionId"
	MetaServer       = "io.modelcontextprotocol/serverInfo"
)

// VersionIn returns the protocol version in the parameters of a request, or "" in those
// of a request that belongs to a session.
func VersionIn(params []byte) string { return TextOf(MemberOf(MemberOf(params, "_meta"), MetaVersion)) }

// AsksInput reports whether the response to a method may ask for input.
func AsksInput(method string) bool {
	return method == "tools/call" || method == "prompts/get" || method == "resources/read"
}

// CapabilityOf returns the capability that a client must declare to receive requests
// of a method, or "".
func CapabilityOf(method string) string {
	switch method {
	case "elicitation/create":
		return "elicitation"
	case "sampling/createMessage":
		return "sampling"
	case "roots/list":
		return "roots"
	}
	return ""
}

// Undeclared returns what a client with these capabilities does not declare and a
// request needs, or "". Elicitation has the modes form, which {} stands for, and url;
// sampling with tools is a capability below sampling.
func Undeclared(capabilities jsonv.Value, method string, params []byte) string {
	need := CapabilityOf(method)
	declared, ok := capabilities.Get(need)
	_, url := declared.Get("url")
	_, form := declared.Get("form")
	asksURL := TextOf(MemberOf(params, "mode")) == "url"
	switch {
	case !ok:
		return need
	case need == "elicitation" && asksURL && !url:
		return need + " in mode url"
	case need == "elicitation" && !asksURL && url && !form:
		return need + " in mode form"
	case need == "sampling" && offersTools(params) && declared.Lookup("tools").IsAbsent():
		return SamplingTools
	}
	return ""
}

// SamplingTools is the capability of clients whose model can use the tools of a request.
const SamplingTools = "sampling.tools"

// offersTools reports whether a request for a model's message offers tools.
func offersTools(params []byte) bool {
	return MemberOf(params, "tools") != nil || MemberOf(params, "toolChoice") != nil
}

// RefusalOf returns the error of a client that does not declare what a request needs.
func RefusalOf(method, undeclared string) *RPCError {
	code := int64(CodeInvalidParams)
	if undeclared == CapabilityOf(method) {
		code = CodeMethodNotFound
	}
	return &RPCError{Code: code, Message: "the client does not declare " + undeclared}
}

// MethodDiscover requests the protocol versions that a server supports.
const MethodDiscover = "server/discover"

// The subscriptions of a stateless revision.
const (
	MethodListen       = "subscriptions/listen"
	ListenAcknowledged = "notifications/subscriptions/acknowledged"
)

// SubscriptionOf returns the subscription that a notification belongs to, or nil.
func SubscriptionOf(params []byte) []byte {
	if !bytes.Contains(params, []byte(MetaSubscription)) {
		return nil
	}
	return MemberOf(MemberOf(params, "_meta"), MetaSubscription)
}
