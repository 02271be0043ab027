package cli

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"mcptest/internal/report"
	"mcptest/internal/result"
)

// mergeFlags are the flags of `mcptest report merge`.
type mergeFlags struct {
	formats       []string
	output, color string
	verbose       bool
	exitCode      bool
	durations     bool
}

func newMergeCmd(s Streams) *cobra.Command {
	var f mergeFlags
	cmd := &cobra.Command{
		Use:   "merge FILE…",
		Short: "Put the records of all shards of a run together",
		Long: `Put the records of all shards of a run together, as if it had been one run: the
tests in the order of the suites, counts and metric roll-ups computed anew, the
exit code that of the shard that ended worst. Each FILE is a record saved with
--reporter json=FILE or ndjson=FILE by a run with --shard, or in CI with the
variables that stand for it.

A shard that is missing, there twice, unfinished, or of other suites is an
error (exit code 2). The command itself ends with 0 whatever the tests did,
unless --exit-code is given.`,
		Example: `  mcptest report merge shard-*.json -o run.json
  mcptest report merge shard-*.json -f pretty -f junit=junit.xml -f json=run.json --exit-code`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return f.merge(s, args) },
	}
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.formats, "format", "f", []string{"json"}, "`name` or name=path; may be repeated: "+formatNames())
	fl.StringVarP(&f.output, "output", "o", "", "write the (single) report to this `file`")
	fl.StringVar(&f.color, "color", "auto", "colours: auto, always or never")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "show exchanges and what passed")
	fl.BoolVar(&f.exitCode, "exit-code", false, "end with the exit code of the whole run")
	fl.BoolVar(&f.durations, "durations", false, "keep the times of the tests beside the suites, for the next split")
	return cmd
}

func (f *mergeFlags) merge(s Streams, args []string) error {
	specs, err := reportSpecs("--format", f.formats, f.output)
	if err != nil {
		return err
	}
	parts, drop, err := readParts(s.In, args)
	defer drop()
	if err != nil {
		return err
	}
	run, err := result.Merge(parts)
	if err != nil {
		return fail(exitInvalid, "%v", err)
	}
	defer run.Close()
	for _, spec := range specs {
		if err := writeReport(s, spec, run, report.Options{Verbose: f.verbose}, f.color); err != nil {
			return fail(exitInternal, "%v", err)
		}
		if spec.Format.Name == "github" {
			if err := stepSummary(lookupEnv(s.Env, "GITHUB_STEP_SUMMARY"), run); err != nil {
				return fail(exitInternal, "step summary: %v", err)
			}
		}
	}
	if f.durations {
		if err := keepTimes(run); err != nil {
			return fail(exitInternal, "--durations: %v", err)
		}
	}
	if f.exitCode && run.ExitCode != exitPassed {
		return &exitError{code: run.ExitCode}
	}
	return nil
}

// readParts reads the records; drop gives back what holds their cases.
func readParts(in io.Reader, names []string) (parts []result.Part, drop func(), err error) {
	drop = func() {
		for _, p := range parts {
			_ = p.Run.Close()
		}
	}
	for _, name := range names {
		run, err := readRecord(in, name)
		if err != nil {
			return parts, drop, err
		}
		parts = append(parts, result.Part{Name: name, Run: run})
	}
	return parts, drop, nil
}

// readRecord reads the record in a file; - is in.
func readRecord(in io.Reader, name string) (*result.Run, error) {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fail(exitInvalid, "open record: %v", err)
		}
		defer file.Close()
		in = file
	}
	run, err := result.Read(in)
	if err != nil {
		return nil, fail(exitInvalid, "%s: %v", name, err)
	}
	return run, nil
}
