package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"mcptest/internal/base/filekind"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/report/result"
	"mcptest/internal/run/history"
)

// mergeFlags are the flags of `mcptest report merge`.
type mergeFlags struct {
	formats       []string
	output, color string
	verbose       bool
	exitCode      bool
	durations     bool
}

func newMergeCmd(s cmdutil.Streams) *cobra.Command {
	var f mergeFlags
	cmd := &cobra.Command{
		Use:   "merge FILE…",
		Short: "Merge the records of all shards of a run",
		Long: `Merge the records of all shards into one record, as if the tests had run
together: tests in the order of the suites, counts and metric roll-ups computed
over all shards, and the exit code of the shard with the worst result. Each FILE
is a record saved with --reporter json=FILE or ndjson=FILE by a run with --shard,
or by a CI job whose environment selects the shard.

A shard that is missing, duplicated, incomplete or from other suites is an
error (exit code 2). Without --exit-code the command exits with 0 even if tests
failed.`,
		Example: `  mcptest report merge shard-*.json -o run.json
  mcptest report merge shard-*.json -f pretty -f junit=junit.xml -f json=run.json --exit-code`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return f.merge(s, args) },
	}
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.formats, "format", "f", []string{"json"}, "`name` or name=path; may be repeated: "+joinFormats())
	fl.StringVarP(&f.output, "output", "o", "", "write the (single) report to this `file`")
	fl.StringVar(&f.color, "color", "auto", "colors: auto, always or never")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "also show exchanges and passed tests")
	fl.BoolVar(&f.exitCode, "exit-code", false, "exit with the exit code of the whole run")
	fl.BoolVar(&f.durations, "durations", false, "save the test durations next to the suites, for the next split")
	return cmd
}

func (f *mergeFlags) merge(s cmdutil.Streams, args []string) error {
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
		return option.Invalid("%v", err)
	}
	defer run.Close()
	since := findSinceEarlier(specs, run)
	for _, spec := range specs {
		if err := writeReport(s, spec, run, since.selectFor(spec, f.verbose), f.color); err != nil {
			return option.Fail(option.ExitInternal, "%v", err)
		}
		if spec.Format.Name == "github" {
			if err := stepSummary(cmdutil.LookupEnv(s.Env, "GITHUB_STEP_SUMMARY"), run); err != nil {
				return option.Fail(option.ExitInternal, "step summary: %v", err)
			}
		}
	}
	if f.durations {
		if err := history.KeepMerged(run); err != nil {
			return option.Fail(option.ExitInternal, "--durations: %v", err)
		}
	}
	if f.exitCode && run.ExitCode != option.ExitPassed {
		return &option.ExitError{Code: run.ExitCode}
	}
	return nil
}

// readParts reads the records; drop releases their cases.
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

// readRecord reads the record in a file; - means in.
func readRecord(in io.Reader, name string) (*result.Run, error) {
	if name != "-" {
		if err := option.RefuseOther("", name, filekind.Record, filekind.RecordLog); err != nil {
			return nil, err
		}
		file, err := os.Open(name)
		if err != nil {
			return nil, option.Invalid("%s: %s", name, cmdutil.Reason(err))
		}
		defer file.Close()
		in = file
	}
	run, err := result.Read(in)
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, option.Invalid("%s: %s", name, cmdutil.Reason(err))
	}
	if err != nil {
		return nil, option.Invalid("%s: %v", name, err)
	}
	return run, nil
}
