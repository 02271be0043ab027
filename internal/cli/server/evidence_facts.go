package server

import (
	"time"

	"mcptest/internal/cli/doctor"
	"mcptest/internal/cli/option"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/run/openings"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/conduct"
)

// evidenceFlags are the flags of evidence.
type evidenceFlags struct {
	target   option.TargetFlags
	cassette string
	output   string
	maxTime  time.Duration
}

// evidence is what was found out about a server, and of a recording.
type evidence struct {
	target   string
	doctor   doctor.Diagnosis
	probe    verdict.Report
	refusal  string // the server's, of mcptest's own handshake: probe is empty then
	openings openings.Result
	recorded *recording // nil: none was given
}

// recording is what a cassette shows.
type recording struct {
	cassette *cassette.Cassette
	who      string
	client   []conduct.Breach
	server   []serverBreach
}

// serverBreach is what a recorded server did against the specification.
type serverBreach struct {
	line          int
	kind, message string
	rule          string
}

// listFailedMusts are the clauses that the server broke.
func (e *evidence) listFailedMusts() (out []verdict.Result) {
	for _, x := range e.probe.Results {
		if x.Verdict == verdict.Fail && x.Level == ruleset.Must {
			out = append(out, x)
		}
	}
	return out
}
