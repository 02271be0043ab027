package api

import (
	"context"
	"encoding/json"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/ui/live"
)

// The requests of the tab Answer.

func askView(k live.Ask) jsonv.Value {
	return jsonv.ObjectOf("id", k.ID, "server", k.Server, "call", k.Call, "method", k.Method, "params", k.Params)
}

type toAnswer struct {
	Ask int `json:"ask"`
	// Action is accept, decline or cancel of an elicitation; for other requests accept or
	// decline.
	Action string          `json:"action"`
	Value  json.RawMessage `json:"value"` // the content of a form, or the whole result
}

// answer answers a request of a server.
func (a *API) answer(_ context.Context, in toAnswer) (jsonv.Value, error) {
	value, err := readObject("value", in.Value)
	if err != nil {
		return jsonv.Value{}, err
	}
	method := ""
	for _, k := range a.o.Hub.Asks() {
		if k.ID == in.Ask {
			method = k.Method
		}
	}
	known := in.Action == "accept" || in.Action == "decline" || in.Action == "cancel"
	switch {
	case !known:
		return jsonv.Value{}, &badRequestError{"unknown action"}
	case method == "elicitation/create":
		answer := jsonv.ObjectOf("action", in.Action)
		if in.Action == "accept" {
			answer = answer.With("content", value)
		}
		return done, a.o.Hub.Answer(in.Ask, answer)
	case in.Action != "accept":
		return done, a.o.Hub.Answer(in.Ask, jsonv.Value{})
	case value.IsAbsent():
		return jsonv.Value{}, &badRequestError{"the answer is missing"}
	}
	return done, a.o.Hub.Answer(in.Ask, value)
}
