package cassette

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
)

// Handshake returns what the recorded server said about itself, with the members of a
// result of initialize. Without a recorded handshake, the requests that had results show
// what it offers: a client may have started another process to ask it.
func (c *Cassette) Handshake(calls []*Call) jsonv.Value {
	info, _ := jsonv.Parse(c.Server.Info)
	derived := jsonv.Object()
	for _, call := range calls {
		_, response := c.Exchange(call)
		result := response.Lookup("result")
		if result.IsAbsent() {
			continue
		}
		if said := findServer(result); !said.IsAbsent() {
			info = said
		}
		if call.Method == protocol.MethodDiscover || call.Method == "initialize" {
			return jsonv.ObjectOf(
				"serverInfo", info,
				"capabilities", result.Lookup("capabilities"),
				"instructions", result.Lookup("instructions"),
			)
		}
		switch what, _, _ := strings.Cut(call.Method, "/"); what {
		case "completion":
			derived = derived.With("completions", jsonv.Object())
		case "tools", "prompts", "resources":
			derived = derived.With(what, jsonv.Object())
		}
	}
	return jsonv.ObjectOf("serverInfo", info, "capabilities", derived)
}

// findServer returns the name and version of a server in one of its results.
func findServer(result jsonv.Value) jsonv.Value {
	if info := result.Lookup("_meta", protocol.MetaServer); !info.IsAbsent() {
		return info
	}
	return result.Lookup("serverInfo")
}

// noteAgreed searches a frame for the protocol version and the server's name, which belong
// into the header. It reports whether the version was found.
func (w *Writer) noteAgreed(f *Frame) bool {
	if len(f.Data) == 0 || f.Data[0] != '{' {
		return false
	}
	v, err := jsonv.Parse(f.Data)
	if err != nil {
		return false
	}
	if f.Dir == ToServer {
		w.noteSpoken(v)
		return false
	}
	result := v.Lookup("result")
	version := result.Lookup("protocolVersion").Text()
	supported := result.Lookup("supportedVersions")
	switch {
	case version != "": // of initialize
	case supported.Len() > 0: // of server/discover
		version = protocol.NewestCommon(supported, protocol.EraStateless).Name
	case result.Kind() == jsonv.KindObject && w.spoken != "": // the client knew the server
		version = w.spoken
		w.adopt()
	}
	if version == "" {
		return false
	}
	w.header.Protocol = version
	if info := findServer(result); !info.IsAbsent() {
		w.header.Server.Info = w.mask(info.Append(nil))
	}
	return true
}

// noteSpoken keeps the protocol version that a request names. That of server/discover is only
// an offer.
func (w *Writer) noteSpoken(request jsonv.Value) {
	version := request.Lookup("params", "_meta", protocol.MetaVersion).Text()
	if version != "" && request.Lookup("method").Text() != protocol.MethodDiscover {
		w.spoken = version
	}
}

// adopt takes the handshake from the cassette that this one replaces, or that is before it
// in its folder, if the same command got nothing else: some clients start a server to ask
// what it is, and again to use it.
func (w *Writer) adopt() {
	path := w.findEarlier()
	if path == "" {
		return
	}
	old, err := Open(path)
	if err != nil {
		return
	}
	defer old.Close()
	command := w.header.Server.Command
	if len(command) == 0 || !slices.Equal(old.Server.Command, command) {
		return
	}
	calls, err := old.Calls()
	if err != nil {
		return
	}
	discoveries := findDiscoveries(calls)
	if len(discoveries) == 0 {
		return
	}
	var lines []byte
	for _, call := range discoveries {
		for _, f := range []*Frame{call.Request, call.Response} {
			f.At = 0
			lines = appendLine(lines, w.makeLine(f), old.Data(f), true)
		}
	}
	if old.Err() != nil {
		return
	}
	w.header.Server.Info = old.Server.Info
	w.held = slices.Concat(lines, w.held)
}

// findEarlier returns the cassette that this one replaces, or else the last one of its folder;
// "" if there is none.
func (w *Writer) findEarlier() string {
	if _, err := os.Stat(w.path); err == nil {
		return w.path
	}
	all, _ := filepath.Glob(filepath.Join(filepath.Dir(w.path), "*"+Suffix))
	if len(all) == 0 {
		return ""
	}
	return slices.Max(all)
}

// findDiscoveries returns the calls of server/discover that got a response; nil if the client
// sent another request, too.
func findDiscoveries(calls []*Call) (discoveries []*Call) {
	for _, call := range calls {
		if call.Method == protocol.MethodDiscover && call.Response != nil {
			discoveries = append(discoveries, call)
		} else if call.Request != nil {
			return nil
		}
	}
	return discoveries
}
