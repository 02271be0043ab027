package aqlcli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

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
