package aqlcli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mcptest/internal/base/osfile"
	"mcptest/internal/base/source"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/mcpaql/verdict"
)

// aqlName is the name of the program.
const aqlName = "mcpaql-conformance"

// maxAQLFile is the maximum size of a bundle or a report. A larger file is not
// evidence but a mistake in the command line, such as a device file.
const maxAQLFile = 256 << 20

// Main runs the command line of mcpaql-conformance, without the program's name. It
// returns the exit code: 0 passed, 1 a MUST category failed, 2 a SHOULD category
// warned, 3 an invalid command line or file.
func Main(args []string, streams cmdutil.Streams) int {
	if cmdutil.Watchdog(args, streams) {
		return verdict.ExitPassed
	}
	c := &call{Streams: streams, flags: map[string]string{}}
	root := newRoot(c)
	root.SetArgs(append([]string{}, args...)) // never nil, which would mean the arguments of the process
	root.SetIn(c.In)
	root.SetOut(cmdutil.VersionOut{Writer: c.Out})
	root.SetErr(c.Err)
	if cmd, err := root.ExecuteC(); err != nil {
		c.code = c.finish(verdict.ExitConfig)
		cmdutil.UsageError(c.Err, cmd, err)
		return c.code
	}
	return c.finish(c.code)
}

// call is one invocation: its flags, arguments and problems.
type call struct {
	cmdutil.Streams
	flags    map[string]string // by long name: the given values, "yes" for a switch
	args     []string
	problems []string
	code     int
}

// addProblem records a mistake, which finish prints, and returns the exit code for it.
func (c *call) addProblem(format string, args ...any) int {
	c.problems = append(c.problems, aqlName+": "+fmt.Sprintf(format, args...))
	return verdict.ExitConfig
}

// refuse records a mistake and returns false.
func (c *call) refuse(format string, args ...any) bool {
	c.addProblem(format, args...)
	return false
}

// refuseFlags reports whether none of some options is given; each one that is given is a
// mistake, which the format describes.
func (c *call) refuseFlags(format string, flags ...string) bool {
	ok := true
	for _, flag := range flags {
		if _, given := c.flags[flag]; given {
			ok = c.refuse(format, flag)
		}
	}
	return ok
}

// addDiagnostics records the mistakes of a file, and its warnings only if there is no
// mistake, so that warnings do not distract from errors.
func (c *call) addDiagnostics(ds source.Diagnostics) bool {
	for _, d := range ds {
		if d.Severity == source.Error || !ds.HasErrors() {
			line := d.String()
			if d.Hint != "" {
				line += " (" + d.Hint + ")"
			}
			c.problems = append(c.problems, line)
		}
	}
	return !ds.HasErrors()
}

// finish prints the problems, one per line, and returns the exit code.
func (c *call) finish(code int) int {
	var b strings.Builder
	for _, p := range c.problems {
		b.WriteString(strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return ' '
			}
			return r
		}, p) + "\n")
	}
	if _, err := io.WriteString(c.Err, b.String()); err != nil {
		return verdict.ExitConfig
	}
	return code
}

// read reads a file of the command line, where "-" means the standard input; it
// returns nil if the file cannot be read.
func (c *call) read(name string) *source.File {
	var data []byte
	var err error
	if name == "-" {
		name = "(standard input)"
		data, err = readLimited(c.In)
	} else {
		data, err = readFile(name)
	}
	if err != nil {
		c.addProblem("cannot read %s: %s", name, cmdutil.Reason(err))
		return nil
	}
	return &source.File{Name: name, Path: name, Data: data}
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errors.New("it is a folder")
	}
	return readLimited(f)
}

func readLimited(r io.Reader) ([]byte, error) {
	if r == nil {
		return nil, nil
	}
	data, err := io.ReadAll(io.LimitReader(r, maxAQLFile+1))
	if err == nil && len(data) > maxAQLFile {
		err = fmt.Errorf("it is larger than %d MiB", maxAQLFile>>20)
	}
	return data, err
}

// emit writes a result to the file of --output.
func (c *call) emit(name string, data []byte) int { return c.emitTo("output", name, data) }

// exitCodes is the table of exit codes.
var exitCodes = []cmdutil.ExitCode{
	{Code: verdict.ExitPassed, Doc: "conformant at the requested level; warnings in MUST categories do not change that without --fail-on warn"},
	{Code: verdict.ExitFailed, Doc: "a MUST category failed, or live changed data that it did not create; for diff and verify-fixtures, a difference"},
	{Code: verdict.ExitWarned, Doc: "a SHOULD category warned, or by the strict rules something was not proved; with --fail-on warn, any warning"},
	{Code: verdict.ExitConfig, Doc: "an invalid command line or file, no adapter, or with --require-judge an answer that was not judged"},
	{Code: verdict.ExitRefused, Doc: "live --record is refused because CI is set"},
}

// DescribeProgram describes the command line, for the reference and the manual page.
func DescribeProgram() cmdutil.Program {
	p := cmdutil.Describe(newRoot(&call{}))
	p.ExitCodes = exitCodes
	return p
}

// The places of results. A file that cannot be written is detected before an adapter
// is called: otherwise a run would lose its result at the end.

// outputFlags lists the options of live that name a file to write, except --record.
var outputFlags = []string{"output", "bundle", "values-template"}

// canWriteFiles reports whether the files that the options of live name can be written.
func (c *call) canWriteFiles() bool {
	ok := true
	for _, flag := range outputFlags {
		name, given := c.flags[flag]
		if !given || name == "-" {
			continue
		}
		if err := tryWrite(name); err != nil {
			ok = c.refuse("--%s: cannot write %s: %s", flag, name, cmdutil.Reason(err))
		}
	}
	return c.hasOneStdout() && c.hasDistinctFiles() && ok
}

// hasOneStdout reports whether at most one result goes to the standard output.
func (c *call) hasOneStdout() bool {
	out := c.flags["output"]
	if c.flags["bundle"] == "-" && (out == "" || out == "-") {
		return c.refuse("--bundle and the report cannot both go to the standard output: add --output FILE")
	}
	return true
}

// hasDistinctFiles reports whether the files are all different.
func (c *call) hasDistinctFiles() bool {
	names := map[string]string{}
	ok := true
	for _, flag := range append(outputFlags[:len(outputFlags):len(outputFlags)], "record", "replay") {
		name, given := c.flags[flag]
		if !given || name == "-" {
			continue
		}
		if flag == "replay" {
			name = findRecording(name)
		}
		name = filepath.Clean(name)
		place := osfile.Place(name)
		if other, taken := names[place]; taken {
			if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
				continue // /dev/null accepts anything
			}
			ok = c.refuse("--%s and --%s name the same file: %s", other, flag, name)
		}
		names[place] = flag
	}
	return ok
}

// tryWrite returns the error that writeWhole would fail with for a file, without
// changing anything.
func tryWrite(name string) error {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return errors.New("it is a folder")
	case err == nil && info.Mode()&fs.ModeDevice != 0:
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return f.Close()
	case err == nil && !info.Mode().IsRegular():
		return nil // opening a pipe would wait for its reader
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := checkParent(name); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// checkParent returns an error if the folder of a file is missing.
func checkParent(name string) error {
	dir := filepath.Dir(name)
	if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return fmt.Errorf("folder %s does not exist", dir)
	}
	return nil
}

// emitTo writes a result to the file that an option names, or to the standard output
// for "" and "-". A file is written completely or not at all.
func (c *call) emitTo(flag, name string, data []byte) int {
	if name == "" || name == "-" {
		if _, err := c.Out.Write(data); err != nil {
			return c.addProblem("cannot write to the standard output: %s", cmdutil.Reason(err))
		}
		return 0
	}
	if err := osfile.Replace(name, data, 0o644); err != nil {
		return c.addProblem("--%s: cannot write %s: %s", flag, name, cmdutil.Reason(err))
	}
	return 0
}
