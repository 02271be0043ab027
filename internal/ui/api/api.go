package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/ui/live"
)

// Options are what the page works with.
type Options struct {
	Hub       *live.Hub
	Keeper    Keeper
	Tapes     Tapes
	Tester    Tester
	Historian Historian
	Recorder  Recorder
	Redactor  *secret.Redactor
	Usage     func(server int) string // flags and arguments of `mcptest call` for a server
	Port      int
	Token     string
}

// API answers the requests of the page.
type API struct {
	o      Options
	guard  guard
	routes map[string]route
	tabs   tabs
	texts  texts
	runs   sync.Mutex // one kept test is run at a time
}

// route answers one kind of request. The result is masked by the caller.
type route func(ctx context.Context, body []byte) (jsonv.Value, error)

// nothing is the body of a request without members.
type nothing struct{}

// done is the answer to a request that only does something.
var done = jsonv.ObjectOf("ok", true)

// badRequestError is a request that the page would not send.
type badRequestError struct{ reason string }

func (e *badRequestError) Error() string { return e.reason }

// newRoute returns a route that reads its body into a struct.
func newRoute[T any](serve func(context.Context, T) (jsonv.Value, error)) route {
	return func(ctx context.Context, body []byte) (jsonv.Value, error) {
		var in T
		if err := decode(body, &in); err != nil {
			return jsonv.Value{}, err
		}
		return serve(ctx, in)
	}
}

// decode reads one JSON object without unknown members.
func decode(body []byte, to any) error {
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		return &badRequestError{"the body must be one JSON object"}
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return &badRequestError{"the body is not what the page sends: " + err.Error()}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return &badRequestError{"something follows the JSON object"}
	}
	return nil
}

// readObject reads a value that must be an object; absent if there is none.
func readObject(name string, raw json.RawMessage) (jsonv.Value, error) {
	if len(raw) == 0 {
		return jsonv.Value{}, nil
	}
	v, err := jsonv.Parse(raw)
	if err != nil || v.Kind() != jsonv.KindObject {
		return jsonv.Value{}, &badRequestError{name + " must be a JSON object"}
	}
	return v, nil
}

// encodeMasked returns a value as JSON text without secrets.
func (a *API) encodeMasked(v jsonv.Value) []byte {
	masked := a.o.Redactor.Bytes(v.Append(nil))
	if jsonv.Valid(masked) != nil {
		return a.maskLeaves(v).Append(nil)
	}
	return masked
}

// maskLeaves masks the texts and numbers of a value one by one: a mask in place of a number
// would not be JSON.
func (a *API) maskLeaves(v jsonv.Value) jsonv.Value {
	switch v.Kind() {
	case jsonv.KindString:
		return jsonv.String(a.o.Redactor.String(v.Text()))
	case jsonv.KindNumber:
		if text := a.o.Redactor.String(v.Literal()); text != v.Literal() {
			return jsonv.String(text)
		}
	}
	return v.Map(func(key string, member jsonv.Value) (string, jsonv.Value) {
		return a.o.Redactor.String(key), a.maskLeaves(member)
	})
}

// indent returns a value as indented JSON without secrets.
func (a *API) indent(v jsonv.Value) string {
	if v.IsAbsent() {
		return ""
	}
	masked := a.o.Redactor.Bytes(v.Indent("", "  "))
	if jsonv.Valid(masked) != nil {
		return string(a.maskLeaves(v).Indent("", "  "))
	}
	return string(masked)
}
