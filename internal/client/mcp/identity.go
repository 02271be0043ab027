package mcp

import (
	"bytes"
	"sync"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
)

// identity is the client's description of itself, in initialize or in each request.
type identity struct {
	client       Implementation
	capabilities jsonv.Value // an object

	metaOnce sync.Once
	metaRaw  []byte
}

func newIdentity(o *Options) *identity {
	i := &identity{client: o.Client, capabilities: o.Capabilities}
	if i.capabilities.IsAbsent() {
		i.capabilities = jsonv.Object()
	}
	return i
}

func (i *identity) initializeParams(revision string) []byte {
	params := jsonv.ObjectOf(
		"protocolVersion", revision,
		"capabilities", i.capabilities,
		"clientInfo", i.client.JSON(),
	)
	return params.Append(nil)
}

// buildMeta returns the members that a stateless revision requires in the _meta of each
// request.
func (i *identity) buildMeta(d protocol.Version) jsonv.Value {
	return jsonv.ObjectOf(
		protocol.MetaVersion, d.Name,
		protocol.MetaClient, i.client.JSON(),
		protocol.MetaCapabilities, i.capabilities,
	)
}

// addMeta adds _meta to the params of a request. It keeps members that the author
// wrote.
func (i *identity) addMeta(d protocol.Version, params []byte, logLevel string) []byte {
	if params != nil && protocol.KindOf(protocol.TrimSpace(params)) != jsonv.KindObject {
		return params // sent unchanged
	}
	// Most requests have no _meta of their own: the text is then made once in a session.
	if logLevel == "" && !bytes.Contains(params, []byte(`"_meta"`)) {
		return protocol.PrependMember(params, `"_meta":`, i.formatMeta(d))
	}
	return i.mergeMeta(d, params, logLevel)
}

// mergeMeta is addMeta for params that have a _meta, or a request with a log level.
func (i *identity) mergeMeta(d protocol.Version, params []byte, logLevel string) []byte {
	meta := i.buildMeta(d)
	if logLevel != "" {
		meta = meta.With(protocol.MetaLogLevel, jsonv.String(logLevel))
	}
	if params == nil {
		params = []byte("{}")
	}
	v, err := jsonv.Parse(params)
	if err != nil {
		return params
	}
	own, ok := v.Get("_meta")
	if ok && own.Kind() != jsonv.KindObject {
		return params
	}
	for k, m := range own.Members() {
		meta = meta.With(k, m)
	}
	return v.With("_meta", meta).Append(nil)
}

// formatMeta returns buildMeta as text, computed once.
func (i *identity) formatMeta(d protocol.Version) []byte {
	i.metaOnce.Do(func() { i.metaRaw = i.buildMeta(d).Append(nil) })
	return i.metaRaw
}
