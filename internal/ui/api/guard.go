package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// policy is the Content-Security-Policy of every response.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
	"media-src data: blob:; connect-src 'self'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// maxBody bounds the body of a request.
const maxBody = 8 << 20

// guard decides which requests are answered.
type guard struct {
	hosts []string // allowed values of Host
	token [sha256.Size]byte
}

// newGuard returns the guard of a page at a port of this machine.
func newGuard(port int, token string) guard {
	g := guard{token: sha256.Sum256([]byte(token))}
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]"} {
		g.hosts = append(g.hosts, host+":"+strconv.Itoa(port))
	}
	return g
}

// setHeaders sets what every response has.
func setHeaders(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Embedder-Policy", "require-corp")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
}

// fail answers with a line of text.
func fail(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(why + "\n"))
}

// isLocal reports whether a request is addressed to this machine: another Host means that a
// name of the internet was pointed here.
func (g *guard) isLocal(r *http.Request) bool {
	return slices.Contains(g.hosts, strings.ToLower(r.Host))
}

// ownOrigin reports whether a request comes from the page itself, or from a program that is
// no browser.
func (g *guard) ownOrigin(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		if origin != "http://"+strings.ToLower(r.Host) {
			return false
		}
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return false
		}
	}
	return true
}

// knows reports whether a request has the token.
func (g *guard) knows(r *http.Request) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	sum := sha256.Sum256([]byte(given))
	return ok && subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1
}

// admits answers a request that is not allowed, and reports whether it is.
func (g *guard) admits(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case !g.ownOrigin(r):
		fail(w, http.StatusForbidden, "this request does not come from the page")
	case !g.knows(r):
		fail(w, http.StatusUnauthorized, "open the address that mcptest ui printed: the token is missing or wrong")
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		fail(w, http.StatusMethodNotAllowed, "only POST is answered here")
	case !isJSON(r):
		fail(w, http.StatusUnsupportedMediaType, "the body must be application/json")
	case r.ContentLength > maxBody:
		fail(w, http.StatusRequestEntityTooLarge, "the body is over 8 MiB")
	default:
		return true
	}
	return false
}

func isJSON(r *http.Request) bool {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	delete(params, "charset")
	return err == nil && kind == "application/json" && len(params) == 0
}
