package api

import (
	"errors"
	"io"
	"net/http"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/ui/page"
)

// New returns the handler of a page.
func New(o Options) *API {
	a := &API{o: o, guard: newGuard(o.Port, o.Token), tabs: newTabs()}
	a.routes = map[string]route{
		"/api/state":       handler(a.state),
		"/api/connect":     handler(a.connect),
		"/api/disconnect":  handler(a.disconnect),
		"/api/refresh":     handler(a.refresh),
		"/api/offer":       handler(a.offer),
		"/api/definition":  handler(a.definition),
		"/api/call":        handler(a.call),
		"/api/also-on":     handler(a.alsoOn),
		"/api/differences": handler(a.differences),
		"/api/cancel":      handler(a.cancel),
		"/api/result":      handler(a.result),
		"/api/text":        handler(a.text),
		"/api/answer":      handler(a.answer),
		"/api/frame":       handler(a.frame),
		"/api/save":        handler(a.saveCassette),
		"/api/cassette":    handler(a.cassette),
		"/api/recorded":    handler(a.recorded),
		"/api/tests":       handler(a.tests),
		"/api/tests-run":   handler(a.runTests),
		"/api/tests-stop":  handler(a.stopTests),
		"/api/outcomes":    handler(a.outcomes),
		"/api/test":        handler(a.test),
		"/api/history":     handler(a.history),
		"/api/compare":     handler(a.compare),
		"/api/draft":       handler(a.draft),
		"/api/insert":      handler(a.insert),
		"/api/undo":        handler(a.undo),
		"/api/run":         handler(a.run),
	}
	return a
}

// ServeHTTP implements [http.Handler].
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	headers(w)
	if !a.guard.local(r) {
		fail(w, http.StatusForbidden, "this address is not the one that mcptest ui listens on")
		return
	}
	serve, known := a.routes[r.URL.Path]
	switch {
	case r.URL.Path == "/api/feed":
		if a.guard.admits(w, r) {
			a.stream(w, r)
		}
	case known:
		if a.guard.admits(w, r) {
			a.answerTo(w, r, serve)
		}
	default:
		page.Serve(w, r)
	}
}

// answerTo reads the body of a request and writes what the route returns.
func (a *API) answerTo(w http.ResponseWriter, r *http.Request, serve route) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		status := http.StatusBadRequest
		if errors.As(err, new(*http.MaxBytesError)) {
			status = http.StatusRequestEntityTooLarge
		}
		fail(w, status, "the body could not be read, or is over 8 MiB")
		return
	}
	v, err := serve(r.Context(), body)
	if bad, ok := errors.AsType[*badRequestError](err); ok {
		fail(w, http.StatusBadRequest, bad.Error())
		return
	}
	if err != nil { // what a person can understand, and act on
		w.WriteHeader(http.StatusConflict)
		v = jsonv.ObjectOf("problem", err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(a.masked(v))
}
