package inspect_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"mcptest/internal/client/mcp"
	"mcptest/internal/offer/apps"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/inspect"
	"mcptest/internal/spec/plan"
)

const viewURI = "ui://shop/cart.html"

// shop is a server of 2025-11-25 that lists a tool with a view to clients that declare the
// extension, and answers resources/read by itself.
func shop(read func(http.ResponseWriter, json.RawMessage)) http.Handler {
	answers := map[string]string{
		"initialize": `{"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "resources": {}},
			"serverInfo": {"name": "shop", "version": "1"}}`,
		"tools/list":               `{"tools": []}`,
		"resources/list":           `{"resources": []}`,
		"resources/templates/list": `{"resourceTemplates": []}`,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Capabilities struct {
					Extensions map[string]json.RawMessage `json:"extensions"`
				} `json:"capabilities"`
			} `json:"params"`
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if _, shown := m.Params.Capabilities.Extensions[apps.Extension]; shown {
			w.Header().Set("Mcp-Session-Id", "views")
		}
		answer := answers[m.Method]
		switch {
		case m.Method == "resources/read":
			read(w, m.ID)
			return
		case m.Method == "tools/list" && r.Header.Get("Mcp-Session-Id") == "views":
			answer = `{"tools": [{"name": "cart", "inputSchema": {"type": "object"}, "_meta": {"ui": {"resourceUri": "` + viewURI + `"}}}]}`
		case answer == "":
			_, _ = w.Write([]byte(`{"jsonrpc": "2.0", "id": ` + string(m.ID) + `, "error": {"code": -32601, "message": "no"}}`))
			return
		}
		_, _ = w.Write([]byte(`{"jsonrpc": "2.0", "id": ` + string(m.ID) + `, "result": ` + answer + `}`))
	})
}

// readShop reads the views of a server as check does.
func readShop(t *testing.T, read func(http.ResponseWriter, json.RawMessage)) (apps.Server, []string) {
	t.Helper()
	web := httptest.NewServer(shop(read))
	t.Cleanup(web.Close)
	o := inspect.Options{
		Server: &plan.Server{
			Name: "shop", URL: web.URL, Transport: "auto", Protocol: mcp.Auto, Timeout: time.Minute, ConnectTimeout: time.Minute,
			Tolerate: map[string]bool{},
		},
		Client: mcp.Implementation{Name: "test"}, Eras: connect.NewEras(nil),
	}
	o.Connect.Limits.Message = 64 << 10
	return inspect.New(o).ReadApps(context.Background(), apps.Listing{Revision: "2025-11-25"})
}

// What says nothing about a view is not taken for a view that is missing.
func TestReadApps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		read             func(http.ResponseWriter, json.RawMessage)
		failure, unknown string
	}{
		"a page": {read: func(w http.ResponseWriter, id json.RawMessage) {
			_, _ = w.Write([]byte(`{"jsonrpc": "2.0", "id": ` + string(id) + `, "result": {"contents": []}}`))
		}},
		"an error": {failure: "gone", read: func(w http.ResponseWriter, id json.RawMessage) {
			_, _ = w.Write([]byte(`{"jsonrpc": "2.0", "id": ` + string(id) + `, "error": {"code": -32002, "message": "gone"}}`))
		}},
		"refused": {failure: "400", read: func(w http.ResponseWriter, _ json.RawMessage) {
			w.WriteHeader(http.StatusBadRequest)
		}},
		"forbidden": {unknown: "HTTP 403", read: func(w http.ResponseWriter, _ json.RawMessage) {
			w.WriteHeader(http.StatusForbidden)
		}},
		"longer than the limit": {unknown: "over the limit", read: func(w http.ResponseWriter, id json.RawMessage) {
			_, _ = w.Write([]byte(`{"jsonrpc": "2.0", "id": ` + string(id) + `, "result": {"contents": [{"text": "` +
				strings.Repeat("x", 80<<10) + `"}]}}`))
		}},
	} {
		server, notes := readShop(t, c.read)
		if len(server.Reads) != 1 || len(server.Listings) < 2 || len(notes) > 0 {
			t.Fatalf("%s: %+v, %q", name, server, notes)
		}
		read := server.Reads[0]
		if !strings.Contains(read.Failure, c.failure) || (read.Failure == "") != (c.failure == "") {
			t.Errorf("%s: failure %q", name, read.Failure)
		}
		if !strings.Contains(read.Unknown, c.unknown) || (read.Unknown == "") != (c.unknown == "") {
			t.Errorf("%s: unknown %q", name, read.Unknown)
		}
		if server.Address != "" || read.URI != viewURI {
			t.Errorf("%s: %+v", name, server)
		}
	}
}
