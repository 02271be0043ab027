package api

import (
	"context"

	"mcptest/internal/ui/live"
)

// Tapes are the cassettes of the command line, which are only read.
type Tapes interface {
	// Names returns the names of the cassettes; a request names one by its number.
	Names() []string
	// Open returns what a cassette contains, without the bytes of its messages.
	Open(ctx context.Context, cassette int) (Tape, error)
	// Row returns a row with its bytes.
	Row(ctx context.Context, cassette int, seq int64) (live.Row, error)
}

// Tape is what a cassette contains.
type Tape struct {
	About    []string // lines about it
	Problems []string // violations that belong to no row
	Rows     []TapeRow
}

// TapeRow is a row of a cassette.
type TapeRow struct {
	live.Row
	Name    string // of a tool, prompt or resource
	Line    int    // of the cassette
	HasTest bool   // a test can be made of it
}

// Recorded names a recorded call.
type Recorded struct {
	Cassette int `json:"cassette"`
	Line     int `json:"line"`
}
