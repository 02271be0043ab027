package api

import (
	"context"

	"mcptest/internal/base/jsonv"
)

// The requests of the tab History.

func (a *API) showHistory(context.Context, nothing) (jsonv.Value, error) {
	h, err := a.o.Historian.History()
	if err != nil {
		return jsonv.Value{}, err
	}
	records := jsonv.List(h.Records, func(r Record) jsonv.Value {
		return runView(r.Run).With("id", jsonv.From(r.ID)).With("name", jsonv.String(r.Name)).
			With("started", jsonv.From(r.Started.UnixMilli())).With("seconds", jsonv.From(r.Seconds)).
			With("commit", textOrAbsent(r.Commit)).With("problem", textOrAbsent(r.Problem)).
			With("exit", jsonv.From(r.ExitCode))
	})
	tests := jsonv.List(h.Tests, func(t TestHistory) jsonv.Value {
		runs := jsonv.List(t.Runs, func(o *Outcome) jsonv.Value {
			if o == nil {
				return jsonv.Null()
			}
			return jsonv.ObjectOf("status", o.Status, "ms", o.MS)
		})
		return jsonv.ObjectOf("file", t.File, "name", t.Name, "runs", runs, "flaky", textOrAbsent(t.Flaky))
	})
	return jsonv.ObjectOf("records", records, "tests", tests, "omitted", h.Omitted), nil
}

type toCompare struct {
	Older int `json:"older"`
	Newer int `json:"newer"`
}

func (a *API) compare(_ context.Context, in toCompare) (jsonv.Value, error) {
	text, err := a.o.Historian.Compare(in.Older, in.Newer)
	if err != nil {
		return jsonv.Value{}, err
	}
	return jsonv.ObjectOf("text", text), nil
}
