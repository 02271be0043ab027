package option

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/report"
)

// AddOutput adds the flag --output to a command, and what the command does: run prints its
// result to the output of its streams.
func AddOutput(cmd *cobra.Command, s cmdutil.Streams, run func(*cobra.Command, cmdutil.Streams, []string) error) *cobra.Command {
	file := cmd.Flags().StringP("output", "o", "-", "write the result to this `file`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *file == "-" {
			return run(cmd, s, args)
		}
		if err := Writable(*file); err != nil {
			return err
		}
		var result bytes.Buffer
		to := s
		to.Out = &result
		err := run(cmd, to, args)
		if result.Len() > 0 { // a mistake prints nothing
			if err := WriteFile(*file, s.Out, result.Bytes()); err != nil {
				return err
			}
		}
		return err
	}
	return cmd
}

// Run returns what a command with at most so many arguments of its own does with them and
// the server's command.
func (f *TargetFlags) Run(limit int, run func(cmd *cobra.Command, s cmdutil.Streams, own, argv []string) error) func(*cobra.Command, cmdutil.Streams, []string) error {
	return func(cmd *cobra.Command, s cmdutil.Streams, args []string) error {
		own, argv, err := f.Split(cmd, args, limit)
		if err != nil {
			return err
		}
		return run(cmd, s, own, argv)
	}
}

// Free returns an error if --output exists and --force is not set.
func Free(path string, force bool) error {
	if path == "-" || path == "" {
		return nil
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return Invalid("%v", err)
	case info.IsDir():
		return Invalid("--output: %s is a directory, not a file", path)
	case !force:
		return Invalid("%s already exists; --force overwrites it, --output writes another file", path)
	}
	return nil
}

// Shown returns a path for messages: relative to the current folder if it is below
// that.
func Shown(path string) string {
	if dir, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return path
}

// WriteFile writes a file atomically; - is stdout.
func WriteFile(path string, stdout io.Writer, data []byte) error {
	sink, err := report.OpenSink(path, stdout)
	if err != nil {
		return Invalid("%v", err)
	}
	_, _ = sink.Write(data) // Commit returns its error
	if err := sink.Commit(); err != nil {
		return Fail(ExitInternal, "%v", err)
	}
	return nil
}

// Writable returns an error if no report can be written to path, so that a long measurement
// is not lost at its end. Pipes and devices are not opened: that would be seen.
func Writable(path string) error {
	if path == "-" || path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil
	}
	sink, err := report.OpenSink(path, io.Discard)
	if err != nil {
		return Invalid("%v", err)
	}
	sink.Abort()
	return nil
}
