package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
)

// boundaryMain runs `boundary PROGRAM…` with the address of an HTTP server in URL. At
// /mcp it checks Origin and the token like a careful MCP server; /seen answers with the
// request as it arrived.
func boundaryMain() {
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	defer s.Close()
	mux.HandleFunc("/seen", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Header.Set("Host", r.Host)
		w.Header().Add("X-Several", "a")
		w.Header().Add("X-Several", "b")
		_ = json.NewEncoder(w).Encode(map[string]any{"method": r.Method, "path": r.URL.String(), "headers": r.Header, "body": string(body)})
	})
	mux.HandleFunc("/.well-known/oauth-protected-resource", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"resource": %q, "authorization_servers": ["https://id.example"]}`, s.URL+"/mcp")
	})
	mux.Handle("/old", http.RedirectHandler("/seen", http.StatusTemporaryRedirect))
	mux.Handle("/away", http.RedirectHandler("http://localhost:1/", http.StatusTemporaryRedirect))
	mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "id: 1\ndata: {\"n\": 1}\n\nevent: note\ndata: two\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/text", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "broken\x00", http.StatusInternalServerError)
	})
	mux.HandleFunc("/half", func(w http.ResponseWriter, r *http.Request) { // calls are refused
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		w.Header().Set("Content-Type", "application/json")
		switch m.Method {
		case "initialize":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"half","version":"1"}}}`, m.ID)
		case "notifications/initialized":
			w.WriteHeader(http.StatusAccepted)
		case "tools/call":
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope"`)
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"no scope"}}`, m.ID)
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	})
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		switch origin := r.Header.Get("Origin"); {
		case origin != "" && origin != s.URL || !strings.HasPrefix(r.Host, "127.0.0.1:"):
			http.Error(w, "forbidden", http.StatusForbidden)
		case r.Method == http.MethodOptions:
			w.Header().Set("Access-Control-Allow-Methods", "GET, POST")
			w.WriteHeader(http.StatusNoContent)
		case r.Method != http.MethodPost:
			w.Header().Set("Allow", "POST")
			http.Error(w, "no stream", http.StatusMethodNotAllowed)
		case r.Header.Get("Authorization") != "Bearer canary-token-1":
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer resource_metadata=%q`, s.URL+"/.well-known/oauth-protected-resource"))
			http.Error(w, "who are you?", http.StatusUnauthorized)
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no such method"}}`)
		}
	})
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Env = append(os.Environ(), "URL="+s.URL+"/mcp", "ORIGIN="+s.URL, "TOKEN=canary-token-1", "WORD=canary-word-2")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if cmd.Run() != nil {
		s.Close()
		os.Exit(max(cmd.ProcessState.ExitCode(), 1))
	}
}
