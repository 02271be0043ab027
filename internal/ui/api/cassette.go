package api

import (
	"context"
	"fmt"

	"mcptest/internal/base/jsonv"
)

// The requests of the tab Cassettes.

// tapeRowsAtOnce bounds the rows in one answer.
const tapeRowsAtOnce = 2000

type ofCassette struct {
	Cassette int `json:"cassette"`
	After    int `json:"after"`
}

// showCassette returns rows of a cassette after a number of rows.
func (a *API) showCassette(ctx context.Context, in ofCassette) (jsonv.Value, error) {
	t, err := a.o.Tapes.Open(ctx, in.Cassette)
	if err != nil {
		return jsonv.Value{}, err
	}
	from := min(max(in.After, 0), len(t.Rows))
	to := min(from+tapeRowsAtOnce, len(t.Rows))
	return jsonv.ObjectOf(
		"about", jsonv.List(t.About, jsonv.String), "problems", jsonv.List(t.Problems, jsonv.String),
		"rows", jsonv.List(t.Rows[from:to], a.viewTapeRow), "last", to, "size", len(t.Rows),
	), nil
}

func (a *API) viewTapeRow(r TapeRow) jsonv.Value {
	return a.viewRow(r.Row).With("name", textOrAbsent(r.Name)).
		With("line", jsonv.From(r.Line)).With("keep", jsonv.From(r.HasTest))
}

type ofTapeRow struct {
	Cassette int   `json:"cassette"`
	Seq      int64 `json:"seq"`
	From     int   `json:"from"`
}

// showRecorded returns the bytes of a row of a cassette.
func (a *API) showRecorded(ctx context.Context, in ofTapeRow) (jsonv.Value, error) {
	r, err := a.o.Tapes.Row(ctx, in.Cassette, in.Seq)
	if err != nil {
		return jsonv.Value{}, err
	}
	key := fmt.Sprintf("cassette %d row %d %d", in.Cassette, in.Seq, r.At.UnixNano())
	return a.frameView(key, r, in.From), nil
}
