package cli

import (
	"time"

	"mcptest/internal/cli/option"
	"mcptest/internal/cli/playback"
	"mcptest/internal/cli/upstreams"
	"mcptest/internal/report/result"
	"mcptest/internal/run"
	"mcptest/internal/run/history"
)

// runFlags are the flags of `mcptest run`.
type runFlags struct {
	option.SuiteFlags
	filters, tags, skipTags, servers []string
	reporters                        []string
	output                           string
	failFast                         bool
	gates                            history.Gates
	parallel                         option.Parallel
	timeout                          time.Duration
	retries                          int
	list, dryRun                     bool
	noProgress, quiet, verbose       bool
	noDiagnosis                      bool
	shuffle                          shuffle
	setupOnly                        bool
	updateSnapshots, allowInCI, open bool
	stopAtEOF                        bool
	logLevel                         string
	baseline                         string
	lastFailed                       bool
	changed                          string
	shard                            string
	verdicts                         *history.Verdicts
	tokenFile                        string
	waitForReady                     time.Duration
	limits                           option.LimitFlags
	coverage                         bool
	cassettes                        playback.Flags
	upstreams                        upstreams.Flags
	traffic                          *upstreams.Traffic
	part                             *result.Shard // nil: the whole plan

	watching bool
	host     *host                // shared by the runs of --watch; nil: each run has its own
	warm     *run.Warm            // nil: servers end with the run
	loaded   func(files []string) // called with the files that were read; may be nil
}
