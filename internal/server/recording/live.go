package recording

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/web"
	"mcptest/internal/server/upstream"
)

// liveTime is the time limit for a response of a real API.
const liveTime = 60 * time.Second

// hopByHop are headers of a connection, and those that the client sets itself.
var hopByHop = []string{"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Content-Length", "Accept-Encoding", "Host"}

// Failure is a request that could not be passed on to the real API.
type Failure struct {
	Request string // method, path and query, without secrets
	Err     error
	Partial bool // the response began, but broke off
}

// errPartial is the cause of a Failure that is Partial.
var errPartial = errors.New("the response of the API broke off")

// Live returns a fallback that forwards requests to the real API. failed receives
// each request without a complete response; record, unless nil, receives each
// exchange.
func Live(api *url.URL, record func(test string, q *upstream.Request, res *upstream.Response), failed func(Failure)) upstream.Fallback {
	client := &http.Client{Transport: web.NewForwarding(), Timeout: liveTime, CheckRedirect: web.NoRedirect}
	return func(q *upstream.Request) (*upstream.Response, bool) {
		res, err := send(client, api, q)
		if err != nil {
			e, _ := newSanitizer(secret.NewRedactor()).request(q)
			failed(Failure{Request: e.describe(), Err: err, Partial: errors.Is(err, errPartial)})
			return &upstream.Response{
				Status: http.StatusBadGateway,
				Header: http.Header{"Content-Type": {"text/plain"}},
				Body:   []byte("mcptest: " + err.Error() + "\n"),
			}, true
		}
		if record != nil {
			test := ""
			if q.Scope != nil {
				test = q.Scope.Test
			}
			record(test, q, res)
		}
		return makeLocal(res, api, q), true
	}
}

func send(client *http.Client, api *url.URL, q *upstream.Request) (*upstream.Response, error) {
	out, err := http.NewRequest(q.Method, api.Scheme+"://"+api.Host+q.Path, strings.NewReader(string(q.Body)))
	if err != nil {
		return nil, fmt.Errorf("pass the request on to %s: %w", api.Host, err)
	}
	out.URL.RawQuery = q.Query.Encode()
	for name, values := range q.Header {
		if !slices.Contains(hopByHop, http.CanonicalHeaderKey(name)) {
			out.Header[name] = values
		}
	}
	if strings.Contains(strings.Join(q.Header.Values("Accept-Encoding"), ","), "gzip") {
		out.Header.Set("Accept-Encoding", "gzip") // which can be sanitized
	}
	if out.Header["User-Agent"] == nil {
		out.Header.Set("User-Agent", "")
	}
	in, err := client.Do(out)
	if err != nil {
		if of, ok := errors.AsType[*url.Error](err); ok { // it repeats the address, including its secrets
			err = of.Err
		}
		return nil, fmt.Errorf("the API did not respond: %w", err)
	}
	defer in.Body.Close()
	body, err := io.ReadAll(io.LimitReader(in.Body, upstream.MaxBody))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPartial, err)
	}
	res := &upstream.Response{
		Status: in.StatusCode,
		Header: http.Header{},
		Body:   body,
		Open:   in.ContentLength < 0 && in.ProtoMajor == 1 && len(in.TransferEncoding) == 0,
	}
	for name, values := range in.Header {
		if !slices.Contains(hopByHop, name) {
			res.Header[name] = values
		}
	}
	return res, nil
}

// makeLocal returns a response in which redirections and pagination links lead to the
// double.
func makeLocal(res *upstream.Response, api *url.URL, q *upstream.Request) *upstream.Response {
	origin := api.Scheme + "://" + api.Host
	if q.Origin == "" || q.Origin == origin {
		return res
	}
	out := *res
	out.Header = res.Header.Clone()
	for _, name := range []string{"Location", "Content-Location", "Link"} {
		for i, v := range out.Header[name] {
			out.Header[name][i] = strings.ReplaceAll(v, origin, q.Origin)
		}
	}
	return &out
}

// Replay returns a fallback that responds from a recording. api is the recorded
// address, if the recording does not contain it. secrets are those of the run.
func (f *File) Replay(api *url.URL, secrets *secret.Redactor) upstream.Fallback {
	if u, err := url.Parse(f.standsFor); err == nil && u.Host != "" {
		api = u
	}
	secrets = secrets.With()      // and those that are found in requests
	rest := f.Player("", secrets) // of requests that belong to no test
	return func(q *upstream.Request) (*upstream.Response, bool) {
		player := rest
		if q.Scope != nil {
			player = f.findPlayer(q.Scope, secrets)
		}
		res, ok := player.Lookup(q)
		if !ok {
			q.Nearest = player.Nearest(q)
			return nil, false
		}
		return makeLocal(res, api, q), true
	}
}

// findPlayer returns the player of an attempt of a test.
func (f *File) findPlayer(s *upstream.Scope, secrets *secret.Redactor) *Player {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, ok := s.Memory.(*Player)
	if !ok {
		p = f.Player(s.Test, secrets)
		s.Memory = p
	}
	return p
}

// Random provides the values of ${random.KEY}. The zero value is ready to use.
type Random struct {
	// Rewritten reports whether the recording of an upstream is rewritten: its values
	// are then not used. Nil means that none is.
	Rewritten func(upstream string) bool
	made      map[string]string
}

// Recorded returns the values in recordings. files maps the names of upstreams to the
// paths of their recordings, relative to dir. Mistakes in them are reported when they
// are used.
func (r *Random) Recorded(dir string, files map[string]string) map[string]string {
	out := map[string]string{}
	for upstream, path := range files {
		if r.Rewritten != nil && r.Rewritten(upstream) {
			continue
		}
		if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if file, _ := Read(path, path, upstream); file != nil {
			maps.Copy(out, file.Random)
		}
	}
	return out
}

// randomLength is the number of characters of a random value.
const randomLength = 10

// Make returns the value of a key that is in no recording: lowercase letters and
// digits, starting with a letter, so that it can be a part of most names and is parsed
// as a text. It is the same for all suites.
func (r *Random) Make(key string) string {
	if r.made == nil {
		r.made = map[string]string{}
	}
	if r.made[key] == "" {
		const letters = "abcdefghijklmnopqrstuvwxyz"
		text := strings.ToLower(rand.Text())
		r.made[key] = string(letters[int(text[0]+text[1])%len(letters)]) + text[2:randomLength+1]
	}
	return r.made[key]
}
