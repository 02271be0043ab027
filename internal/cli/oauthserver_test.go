package cli_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// oauthServer is an authorization server and an MCP server that accepts only its tokens, in
// one process. Every login succeeds.
type oauthServer struct {
	url   string
	polls int  // questions of the device grant to answer with "not yet"
	short bool // the first token of a login is good for no time at all
	deny  bool

	mu      sync.Mutex
	codes   map[string]string // code: scope
	access  map[string]string // token: scope
	refresh map[string]string
	issued  int
}

// oauthServerMain runs the given command with the server's address in URL, and exits with
// its exit code. Tokens begin with canary-, so that a test can search for them.
func oauthServerMain() {
	s := newOAuthServer()
	flag.IntVar(&s.polls, "polls", 0, "answers of the device grant that come too early")
	flag.BoolVar(&s.short, "short", false, "the first token runs out at once")
	flag.BoolVar(&s.deny, "deny", false, "deny every login")
	flag.Parse()
	srv := s.start()
	defer srv.Close()
	cmd := exec.Command(flag.Arg(0), flag.Args()[1:]...)
	cmd.Env = append(os.Environ(), "URL="+srv.URL+"/mcp", "ISSUER="+srv.URL, "BROWSER=browser")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		os.Exit(max(1, cmd.ProcessState.ExitCode()))
	}
}

func newOAuthServer() *oauthServer {
	return &oauthServer{codes: map[string]string{}, access: map[string]string{"ready-made-token": "read"}, refresh: map[string]string{}}
}

// start starts both servers.
func (s *oauthServer) start() *httptest.Server {
	mux := http.NewServeMux()
	mcp := sdkHandler("stateful")
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) { s.guard(w, r, mcp) })
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", s.aboutResource)
	mux.HandleFunc("/.well-known/oauth-authorization-server", s.aboutIssuer)
	mux.HandleFunc("POST /register", func(w http.ResponseWriter, r *http.Request) {
		var m map[string]any
		_ = json.NewDecoder(r.Body).Decode(&m)
		m["client_id"] = "registered"
		send(w, 201, m)
	})
	mux.HandleFunc("GET /authorize", s.authorize)
	mux.HandleFunc("POST /device", func(w http.ResponseWriter, _ *http.Request) {
		send(w, 200, map[string]any{
			"device_code": "canary-device", "user_code": "WDJB-MJHT", "verification_uri": s.url + "/enter", "expires_in": 60, "interval": 1,
		})
	})
	mux.HandleFunc("POST /token", s.token)
	srv := httptest.NewUnstartedServer(mux)
	s.url = "http://" + srv.Listener.Addr().String()
	srv.Start()
	return srv
}

func send(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (s *oauthServer) guard(w http.ResponseWriter, r *http.Request, mcp http.Handler) {
	s.mu.Lock()
	scope, ok := s.access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	s.mu.Unlock()
	about := fmt.Sprintf("resource_metadata=%q", s.url+"/.well-known/oauth-protected-resource/mcp")
	switch {
	case !ok:
		w.Header().Set("WWW-Authenticate", "Bearer "+about)
		w.WriteHeader(401)
	case r.Header.Get("X-Want") != "" && !strings.Contains(scope, r.Header.Get("X-Want")):
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_scope", scope=%q, %s`, r.Header.Get("X-Want"), about))
		w.WriteHeader(403)
	default:
		mcp.ServeHTTP(w, r)
	}
}

func (s *oauthServer) aboutResource(w http.ResponseWriter, _ *http.Request) {
	send(w, 200, map[string]any{"resource": s.url + "/mcp", "authorization_servers": []string{s.url}, "scopes_supported": []string{"read"}})
}

func (s *oauthServer) aboutIssuer(w http.ResponseWriter, _ *http.Request) {
	send(w, 200, map[string]any{
		"issuer": s.url, "authorization_endpoint": s.url + "/authorize", "token_endpoint": s.url + "/token",
		"registration_endpoint": s.url + "/register", "device_authorization_endpoint": s.url + "/device",
		"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
	})
}

func (s *oauthServer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	answer := "error=access_denied"
	if !s.deny {
		s.mu.Lock()
		s.codes["the-code"] = q.Get("scope")
		s.mu.Unlock()
		answer = "code=the-code"
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer+"&state="+q.Get("state"), http.StatusFound)
}

func (s *oauthServer) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var scope string
	var ok bool
	switch r.FormValue("grant_type") {
	case "client_credentials":
		_, secret, _ := r.BasicAuth()
		scope, ok = r.FormValue("scope"), secret == "correct-horse-battery"
	case "authorization_code":
		scope, ok = s.codes[r.FormValue("code")]
		delete(s.codes, r.FormValue("code"))
	case "refresh_token":
		scope, ok = s.refresh[r.FormValue("refresh_token")]
		delete(s.refresh, r.FormValue("refresh_token"))
	default:
		if s.polls--; s.polls >= 0 {
			send(w, 400, map[string]any{"error": "authorization_pending"})
			return
		}
		scope, ok = "read", r.FormValue("device_code") == "canary-device" && !s.deny
	}
	if !ok || r.FormValue("resource") != s.url+"/mcp" {
		send(w, 400, map[string]any{"error": "invalid_grant"})
		return
	}
	s.issued++
	access, refresh := fmt.Sprintf("canary-access-%d", s.issued), fmt.Sprintf("canary-refresh-%d", s.issued)
	s.refresh[refresh] = scope
	expires := 3600
	if s.short && s.issued == 1 {
		expires = 1
	} else {
		s.access[access] = scope
	}
	send(w, 200, map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": expires, "refresh_token": refresh})
}

// browserMain opens an address as a browser does.
func browserMain() {
	resp, err := http.Get(os.Args[len(os.Args)-1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_ = resp.Body.Close()
}
