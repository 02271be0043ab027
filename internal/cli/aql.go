package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/aql"
	"mcptest/internal/proc"
	"mcptest/internal/result"
	"mcptest/internal/source"
	"mcptest/internal/vigil"
)

// aqlName is the program whose command line is here.
const aqlName = "mcpaql-conformance"

// maxAQLFile bounds a bundle or a report. A bigger one is no evidence but a
// mistake in the command line, such as a device file.
const maxAQLFile = 256 << 20

// AQLMain is the command line of mcpaql-conformance, without the program's
// name. It returns the exit code: 0 passed, 1 a MUST category failed, 2 a
// SHOULD category warned, 3 a mistake in the command line or in a file.
func AQLMain(args []string, streams Streams) int {
	if len(args) == 1 && args[0] == vigil.Arg {
		proc.GuardianMain(vigil.Told(streams.In))
		return aql.ExitPassed
	}
	c := &aqlCall{Streams: streams}
	if len(args) == 0 {
		c.problem("no command: want one of %s", strings.Join(aqlCommandNames(), ", "))
		return c.finish(aql.ExitConfig)
	}
	name, rest := args[0], args[1:]
	switch name {
	case "-h", "--help":
		name = "help"
	case "--version":
		name = "version"
	}
	for _, cmd := range aqlCommands() {
		if cmd.name != name {
			continue
		}
		c.parse(cmd, rest)
		switch {
		case c.help:
			return c.finish(c.emit("-", []byte(cmd.usage())))
		case len(c.problems) > 0:
			return c.finish(aql.ExitConfig)
		}
		return c.finish(cmd.run(c))
	}
	hint := ""
	if near := source.Nearest(name, aqlCommandNames()); near != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", near)
	}
	c.problem("unknown command %q%s: want one of %s", name, hint, strings.Join(aqlCommandNames(), ", "))
	return c.finish(aql.ExitConfig)
}

// aqlCall is one invocation: what was asked, and what is wrong with it.
type aqlCall struct {
	Streams
	flags    map[string]string // long name, without dashes
	args     []string
	help     bool
	problems []string
}

// problem notes a mistake; finish prints it.
func (c *aqlCall) problem(format string, args ...any) {
	c.problems = append(c.problems, aqlName+": "+fmt.Sprintf(format, args...))
}

// diagnostics notes the mistakes of a file, and its warnings only when there
// is no mistake: who has to mend a file first wants to know why.
func (c *aqlCall) diagnostics(ds source.Diagnostics) bool {
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

// finish prints the problems, one a line, and returns the exit code.
func (c *aqlCall) finish(code int) int {
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
		return aql.ExitConfig
	}
	return code
}

// read loads a file of the command line, "-" being the standard input; nil
// when it cannot be read.
func (c *aqlCall) read(name string) *source.File {
	var data []byte
	var err error
	if name == "-" {
		name = "(standard input)"
		data, err = readLimited(c.In)
	} else {
		data, err = readFile(name)
	}
	if err != nil {
		c.problem("cannot read %s: %s", name, reason(err))
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

// reason says why a file could not be used, without repeating its name.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	}
	return err.Error()
}

// emit writes a result to a file, or to the standard output for "" and "-".
// A file is written whole or not at all.
func (c *aqlCall) emit(name string, data []byte) int {
	if name == "" || name == "-" {
		if _, err := c.Out.Write(data); err != nil {
			c.problem("cannot write to the standard output: %s", reason(err))
			return aql.ExitConfig
		}
		return 0
	}
	if err := writeWhole(name, data); err != nil {
		c.problem("--output: cannot write %s: %s", name, reason(err))
		return aql.ExitConfig
	}
	return 0
}

// writeWhole replaces a regular file at once; anything else, such as a
// device, is written to.
func writeWhole(name string, data []byte) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return errors.New("it is a folder")
		}
		return os.WriteFile(name, data, 0o666)
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = io.Copy(tmp, bytes.NewReader(data))
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}

func aqlTool() result.Tool { return result.Tool{Name: aqlName, Version: version()} }

func aqlCommandNames() (names []string) {
	for _, c := range aqlCommands() {
		names = append(names, c.name)
	}
	return slices.Clip(names)
}
