package api

import (
	"context"

	"mcptest/internal/base/jsonv"
)

// The requests of the tab Tests.

func (a *API) showTests(context.Context, nothing) (jsonv.Value, error) {
	t, err := a.o.Tester.Tests()
	if err != nil {
		return jsonv.Value{}, err
	}
	list := jsonv.List(t.List, func(x Test) jsonv.Value {
		return jsonv.ObjectOf(
			"name", x.Name, "file", x.File, "line", x.Line, "server", textOrAbsent(x.Server),
			"call", textOrAbsent(x.Call), "tags", jsonv.List(x.Tags, jsonv.String),
		)
	})
	return jsonv.ObjectOf(
		"version", t.Version, "files", jsonv.List(t.Files, jsonv.String), "tests", list,
		"omitted", t.Omitted, "problem", textOrAbsent(t.Problem),
	), nil
}

func (a *API) runTests(_ context.Context, in Selection) (jsonv.Value, error) {
	ask, err := a.o.Tester.Start(in)
	if err != nil {
		return jsonv.Value{}, err
	}
	if ask != nil {
		return jsonv.ObjectOf("confirm", ask.Token, "calls", jsonv.List(ask.Calls, jsonv.String)), nil
	}
	return done, nil
}

func (a *API) stopTests(context.Context, nothing) (jsonv.Value, error) {
	a.o.Tester.Stop()
	return done, nil
}

// runView returns the counters of a run.
func runView(r Run) jsonv.Value {
	return jsonv.ObjectOf(
		"id", r.ID, "going", r.Going, "total", r.Total, "passed", r.Passed, "failed", r.Failed,
		"errors", r.Errors, "inconclusive", r.Inconclusive, "skipped", r.Skipped, "seconds", r.Seconds,
		"running", r.Running, "queued", countQueued(r), "problem", textOrAbsent(r.Problem),
	)
}

// countQueued returns how many tests of a run have not begun.
func countQueued(r Run) int {
	ended := r.Passed + r.Failed + r.Errors + r.Inconclusive + r.Skipped
	return max(0, r.Total-ended-r.Running)
}

type ofRun struct {
	Run   int `json:"run"`
	After int `json:"after"`
}

// showOutcomes returns how tests ended since the page asked last.
func (a *API) showOutcomes(_ context.Context, in ofRun) (jsonv.Value, error) {
	list, err := a.o.Tester.Outcomes(in.Run, in.After)
	if err != nil {
		return jsonv.Value{}, err
	}
	return jsonv.ObjectOf("outcomes", jsonv.List(list, func(o Outcome) jsonv.Value {
		return jsonv.ObjectOf("test", o.Test, "status", o.Status, "ms", o.MS)
	})), nil
}

type ofTest struct {
	Run  int `json:"run"`
	Test int `json:"test"`
}

func (a *API) test(_ context.Context, in ofTest) (jsonv.Value, error) {
	r, err := a.o.Tester.Report(in.Run, in.Test)
	if err != nil {
		return jsonv.Value{}, err
	}
	exchanges := jsonv.List(r.Exchanges, func(x Exchanged) jsonv.Value {
		return jsonv.ObjectOf("request", x.Request, "response", x.Response)
	})
	return jsonv.ObjectOf(
		"text", r.Text, "place", r.Place, "editor", textOrAbsent(r.Editor), "exchanges", exchanges,
	), nil
}
