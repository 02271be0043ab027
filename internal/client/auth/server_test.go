package auth_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// authority is an authorization server and the resource that it protects, in one process.
type authority struct {
	*httptest.Server
	issuer  string         // what the resource says; the server's own when empty
	names   string         // the path of the resource that the metadata names; its own when empty
	methods []string       // how clients may identify themselves; without a secret or by a header when nil
	tells   map[string]any // changes the metadata of the authorization server
	back    url.Values     // changes the parameters of the redirect address
	broken  bool           // no code is exchanged
	single  bool           // there are no refresh tokens
	page    bool           // the login shows a page
	refuse  bool           // the login ends with an error
	forever bool           // the login redirects to itself
	short   bool           // tokens live for two seconds
	lose    bool           // the resource takes no token at all
	ended   bool           // refresh tokens are taken no more
	polls   []string       // what each question of the device grant is answered with, the last one over and over

	refresh  map[string]string // refresh token that is good: its scopes
	pollsAt  []time.Time
	mu       sync.Mutex
	codes    map[string]url.Values // by code: what /authorize was asked
	tokens   map[string]string     // access token: its scopes
	issued   int
	logins   int
	requests []string // to the token endpoint: "grant secret"
	clients  []string // the methods with which clients registered
}

func newAuthority(t *testing.T) *authority {
	mux, a := newAuthorityMux()
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
	return a
}

func newAuthorityMux() (*http.ServeMux, *authority) {
	a := &authority{codes: map[string]url.Values{}, tokens: map[string]string{}, refresh: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", a.resource("read"))
	mux.HandleFunc("/write", a.resource("write"))
	mux.HandleFunc("/.well-known/oauth-protected-resource/", func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, "/.well-known/oauth-protected-resource")
		issuer := a.issuer
		if issuer == "" {
			issuer = a.URL
		}
		if a.names != "" {
			path = a.names
		}
		reply(w, 200, map[string]any{"resource": a.URL + path, "authorization_servers": strings.Fields(issuer)})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		meta := map[string]any{
			"issuer": a.URL, "authorization_endpoint": a.URL + "/authorize", "token_endpoint": a.URL + "/token",
			"device_authorization_endpoint": a.URL + "/device",
			"registration_endpoint":         a.URL + "/register", "response_types_supported": []string{"code"},
			"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"client_secret_basic", "none"},
		}
		if a.methods != nil {
			meta["token_endpoint_auth_methods_supported"] = a.methods
		}
		maps.Copy(meta, a.tells)
		reply(w, 200, meta)
	})
	mux.HandleFunc("/register", a.register)
	mux.HandleFunc("/authorize", a.authorize)
	mux.HandleFunc("/token", a.token)
	mux.HandleFunc("POST /device", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("client_id") == "" || r.FormValue("resource") == "" {
			reply(w, 400, map[string]any{"error": "invalid_request"})
			return
		}
		reply(w, 200, map[string]any{
			"device_code": "the-device-code", "user_code": "WDJB-MJHT", "verification_uri": a.URL + "/enter",
			"verification_uri_complete": a.URL + "/enter?code=WDJB-MJHT", "expires_in": 60, "interval": 1,
		})
	})
	return mux, a
}

// register issues a secret to clients that can have one, as the TypeScript SDK does.
func (a *authority) register(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var m map[string]any
	_ = json.NewDecoder(r.Body).Decode(&m)
	method, _ := m["token_endpoint_auth_method"].(string)
	a.clients = append(a.clients, method)
	m["client_id"] = "registered"
	if method != "none" {
		m["client_secret"] = "issued-secret-0"
	}
	reply(w, 201, m)
}

// identified reports whether a client that registered itself sent what was agreed.
func (a *authority) identified(r *http.Request) bool {
	id, secret, header := r.BasicAuth()
	if len(a.clients) == 0 {
		return true
	}
	switch a.clients[len(a.clients)-1] {
	case "none":
		return !header && r.PostForm.Get("client_id") == "registered" && !r.PostForm.Has("client_secret")
	case "client_secret_post":
		return !header && r.PostForm.Get("client_id") == "registered" && r.PostForm.Get("client_secret") == "issued-secret-0"
	}
	return id == "registered" && secret == "issued-secret-0"
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// resource responds 401 without a token and 403 without the scope.
func (a *authority) resource(scope string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		granted, ok := a.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		a.mu.Unlock()
		meta := fmt.Sprintf("resource_metadata=%q", a.URL+"/.well-known/oauth-protected-resource"+r.URL.Path)
		switch {
		case !ok || a.lose:
			w.Header().Set("WWW-Authenticate", `Bearer scope="read", `+meta)
			w.WriteHeader(401)
		case !slices.Contains(strings.Fields(granted), scope):
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_scope", scope=%q, %s`, scope, meta))
			w.WriteHeader(403)
		default:
			fmt.Fprint(w, granted)
		}
	}
}

func (a *authority) authorize(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.logins++
	q := r.URL.Query()
	back := url.Values{"state": {q.Get("state")}}
	switch {
	case a.page:
		fmt.Fprint(w, "<form>who are you?</form>")
		return
	case a.forever:
		http.Redirect(w, r, r.URL.String(), http.StatusFound)
		return
	case a.refuse:
		back.Set("error", "access_denied")
	default:
		code := fmt.Sprintf("code-%d", a.logins)
		a.codes[code] = q
		back.Set("code", code)
	}
	for key, v := range a.back {
		back[key] = v
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// token checks PKCE (RFC 7636) and the resource (RFC 8707), and issues a token.
func (a *authority) token(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = r.ParseForm()
	_, secret, _ := r.BasicAuth()
	a.requests = append(a.requests, strings.TrimSpace(r.Form.Get("grant_type")+" "+secret))
	scope := r.Form.Get("scope")
	if a.broken || !a.identified(r) {
		reply(w, 400, map[string]any{"error": "invalid_client", "error_description": "Client secret is required"})
		return
	}
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		asked, ok := a.codes[r.Form.Get("code")]
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		if !ok || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || asked.Get("resource") != r.Form.Get("resource") {
			reply(w, 400, map[string]any{"error": "invalid_grant"})
			return
		}
		scope = asked.Get("scope")
	case "client_credentials":
		if secret != "correct-horse" {
			reply(w, 401, map[string]any{"error": "invalid_client"})
			return
		}
	case "refresh_token":
		var ok bool
		if scope, ok = a.refresh[r.Form.Get("refresh_token")]; !ok || a.ended {
			reply(w, 400, map[string]any{"error": "invalid_grant", "error_description": "the refresh token has expired"})
			return
		}
		delete(a.refresh, r.Form.Get("refresh_token")) // each is good once
	case "urn:ietf:params:oauth:grant-type:device_code":
		a.pollsAt = append(a.pollsAt, time.Now())
		answer := a.polls[0]
		if len(a.polls) > 1 {
			a.polls = a.polls[1:]
		}
		if answer != "" || r.Form.Get("device_code") != "the-device-code" {
			reply(w, 400, map[string]any{"error": answer})
			return
		}
	}
	if r.Form.Get("resource") == "" && r.Form.Get("grant_type") != "refresh_token" {
		reply(w, 400, map[string]any{"error": "invalid_target"})
		return
	}
	a.issued++
	t := fmt.Sprintf("token-%d", a.issued)
	a.tokens[t] = scope
	expires := 3600
	if a.short {
		expires = 2
	}
	answer := map[string]any{"access_token": t, "token_type": "Bearer", "expires_in": expires}
	if !a.single {
		a.refresh["refresh-"+t] = scope
		answer["refresh_token"] = "refresh-" + t
	}
	reply(w, 200, answer)
}

// revoke forgets all access tokens.
func (a *authority) revoke() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.tokens)
}
