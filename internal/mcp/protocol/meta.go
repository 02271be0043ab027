package protocol

import "bytes"

// Keys of _meta (MCP 2026-07-28).
const (
	MetaVersion      = "io.modelcontextprotocol/protocolVersion"
	MetaClient       = "io.modelcontextprotocol/clientInfo"
	MetaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel     = "io.modelcontextprotocol/logLevel"
	MetaSubscription = "io.modelcontextprotocol/subscriptionId"
	MetaServer       = "io.modelcontextprotocol/serverInfo"
)

// AsksInput reports whether a server may answer the method by asking for input.
func AsksInput(method string) bool {
	return method == "tools/call" || method == "prompts/get" || method == "resources/read"
}

// CapabilityOf returns the capability that a client must declare to be asked a
// method, "" for none.
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

// MethodDiscover asks a server which protocol versions it supports.
const MethodDiscover = "server/discover"

// The subscriptions of a stateless revision.
const (
	MethodListen       = "subscriptions/listen"
	ListenAcknowledged = "notifications/subscriptions/acknowledged"
)

// SubscriptionOf finds the subscription a notification belongs to, nil for none.
func SubscriptionOf(params []byte) []byte {
	if !bytes.Contains(params, []byte(MetaSubscription)) {
		return nil
	}
	return MemberOf(MemberOf(params, "_meta"), MetaSubscription)
}
