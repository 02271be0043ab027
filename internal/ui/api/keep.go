package api

import (
	"context"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/spec/draft"
	"mcptest/internal/ui/live"
)

// The requests of the drawer Keep as test.

type toKeep struct {
	Call     int          `json:"call"`
	Recorded *Recorded    `json:"recorded"` // in place of Call
	File     int          `json:"file"`
	Name     string       `json:"name"`
	Leave    []int        `json:"leave"`
	Parts    []draft.Part `json:"parts"`
}

// mostParts is how many parts of a result can be chosen for one test.
const mostParts = 100 // as the refusal says

// makeChoice returns what a person chose for the test.
func (in toKeep) makeChoice() Choice {
	return Choice{File: in.File, Name: in.Name, Leave: in.Leave, Parts: in.Parts}
}

// findSubject returns what a test is made of.
func (a *API) findSubject(in toKeep) (Subject, error) {
	if len(in.Parts) > mostParts {
		return Subject{}, &live.RefusedError{Reason: "a test expects at most 100 parts that were chosen"}
	}
	if in.Recorded != nil {
		return Subject{Recorded: in.Recorded}, nil
	}
	c, err := a.o.Hub.Call(in.Call)
	if err == nil && (!c.Done || c.Exchange == nil || c.Cause != "") {
		err = &live.RefusedError{Reason: "there is no result to be kept"}
	}
	return Subject{Call: c}, err
}

// runsByItself reports whether the test of a subject is run after its insertion: it calls
// nothing but what declares to be read-only.
func (s Subject) runsByItself() bool {
	if s.Recorded != nil {
		return false
	}
	return s.Call.Wanted.Kind != live.CallTool || findObjection("tool", s.Call.Tool) == ""
}

func (a *API) showDraft(_ context.Context, in toKeep) (jsonv.Value, error) {
	s, err := a.findSubject(in)
	if err != nil {
		return jsonv.Value{}, err
	}
	d, err := a.o.Keeper.Draft(s, in.makeChoice())
	if err != nil {
		return jsonv.Value{}, err
	}
	assertions := jsonv.List(d.Assertions, func(x Assertion) jsonv.Value {
		return jsonv.ObjectOf("text", x.Text, "sentence", x.Sentence, "note", textOrAbsent(x.Note))
	})
	return jsonv.ObjectOf(
		"name", d.Name, "assertions", assertions, "parts", jsonv.List(d.Parts, numberOf),
		"diff", jsonv.List(d.Diff, jsonv.String),
		"notes", jsonv.List(d.Notes, jsonv.String), "shown", d.Shown, "creates", d.Creates,
	), nil
}

func numberOf(n int) jsonv.Value { return jsonv.Int(int64(n)) }

type toInsert struct {
	toKeep
	Shown string `json:"shown"`
}

func (a *API) insert(ctx context.Context, in toInsert) (jsonv.Value, error) {
	s, err := a.findSubject(in.toKeep)
	if err != nil {
		return jsonv.Value{}, err
	}
	got, err := a.o.Keeper.Insert(ctx, s, in.makeChoice(), in.Shown)
	if err != nil {
		return jsonv.Value{}, err
	}
	a.o.Hub.Reload()
	return jsonv.ObjectOf(
		"insertion", got.ID, "name", got.Name, "place", got.Place, "runs", s.runsByItself(), "tool", got.Calls,
	), nil
}

type ofInsertion struct {
	Insertion int `json:"insertion"`
}

func (a *API) undo(ctx context.Context, in ofInsertion) (jsonv.Value, error) {
	err := a.o.Keeper.Undo(ctx, in.Insertion)
	if err == nil {
		a.o.Hub.Reload()
	}
	return done, err
}

func (a *API) run(ctx context.Context, in ofInsertion) (jsonv.Value, error) {
	if !a.runs.TryLock() {
		return jsonv.Value{}, &live.RefusedError{Reason: "a test is running"}
	}
	defer a.runs.Unlock()
	v, err := a.o.Keeper.Run(ctx, in.Insertion)
	if err != nil {
		return jsonv.Value{}, err
	}
	return jsonv.ObjectOf("passed", v.Passed, "text", v.Text), nil
}
