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
		"/api/state":       newRoute(a.state),
		"/api/connect":     newRoute(a.connect),
		"/api/disconnect":  newRoute(a.disconnect),
		"/api/refresh":     newRoute(a.refresh),
		"/api/offer":       newRoute(a.offer),
		"/api/definition":  newRoute(a.showDefinition),
		"/api/call":        newRoute(a.call),
		"/api/also-on":     newRoute(a.callBeside),
		"/api/differences": newRoute(a.compareReplies),
		"/api/cancel":      newRoute(a.cancel),
		"/api/result":      newRoute(a.showResult),
		"/api/text":        newRoute(a.showText),
		"/api/answer":      newRoute(a.answer),
		"/api/frame":       newRoute(a.frame),
		"/api/save":        newRoute(a.saveCassette),
		"/api/cassette":    newRoute(a.showCassette),
		"/api/recorded":    newRoute(a.showRecorded),
		"/api/tests":       newRoute(a.showTests),
		"/api/tests-run":   newRoute(a.runTests),
		"/api/tests-stop":  newRoute(a.stopTests),
		"/api/outcomes":    newRoute(a.showOutcomes),
		"/api/test":        newRoute(a.test),
		"/api/history":     newRoute(a.showHistory),
		"/api/compare":     newRoute(a.compare),
		"/api/draft":       newRoute(a.showDraft),
		"/api/insert":      newRoute(a.insert),
		"/api/undo":        newRoute(a.undo),
		"/api/run":         newRoute(a.run),
	}
	return a
}

// ServeHTTP implements [http.Handler].
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w)
	if !a.guard.isLocal(r) {
		fail(w, http.StatusForbidden, "this address is not the one that mcptest ui listens on")
		return
	}
	serve, known := a.routes[r.URL.Path]
	switch {
	case r.URL.Path == "/api/feed":
		if a.guard.admits(w, r) {
			a.serveStream(w, r)
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
	_, _ = w.Write(a.encodeMasked(v))
}
