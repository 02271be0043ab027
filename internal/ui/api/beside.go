package api

import (
	"context"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/run/twin"
	"mcptest/internal/ui/live"
)

// The requests of *Also on*.

type toBeside struct {
	Call     int    `json:"call"`
	Server   int    `json:"server"`
	Protocol string `json:"protocol"`
	Confirm  string `json:"confirm"`
}

// callBeside makes a call again on another server, or with another protocol version.
func (a *API) callBeside(_ context.Context, in toBeside) (jsonv.Value, error) {
	first, err := a.o.Hub.Call(in.Call)
	if err != nil {
		return jsonv.Value{}, err
	}
	w := first.Wanted
	w.Server, w.Confirm, w.Beside = in.Server, in.Confirm, &live.Beside{Call: first.ID, Version: in.Protocol}
	id, confirm, err := a.o.Hub.SendBeside(w)
	if confirm != nil {
		return jsonv.ObjectOf("confirm", confirm.Token, "why", confirm.Why, "arguments", a.indent(w.Args)), nil
	}
	return jsonv.ObjectOf("call", id), err
}

type ofTwo struct {
	First int `json:"first"`
	Other int `json:"other"`
}

// compareReplies compares the responses to two calls with the masks of same_as.
func (a *API) compareReplies(_ context.Context, in ofTwo) (jsonv.Value, error) {
	first, err := a.findAnswered(in.First)
	if err != nil {
		return jsonv.Value{}, err
	}
	other, err := a.findAnswered(in.Other)
	if err != nil {
		return jsonv.Value{}, err
	}
	lines := twin.Difference(first, other, "")
	return jsonv.ObjectOf("lines", jsonv.List(lines, jsonv.String)), nil
}

// findAnswered returns the response to a call.
func (a *API) findAnswered(id int) (twin.Reply, error) {
	c, err := a.o.Hub.Call(id)
	if err != nil {
		return twin.Reply{}, err
	}
	if !c.Done || c.Exchange == nil || c.Cause != "" {
		return twin.Reply{}, &live.RefusedError{Reason: "there is no response that could be compared"}
	}
	reply := twin.Reply{Result: c.Result}
	if e, err := jsonv.Parse(c.Exchange.Error); err == nil {
		reply.Error = e
	}
	return reply, nil
}
