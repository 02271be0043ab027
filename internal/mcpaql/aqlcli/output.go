package aqlcli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"mcptest/internal/base/osfile"
	"mcptest/internal/cli/cmdutil"
)

// A file that cannot be written is detected before an adapter is called: otherwise a run would
// lose its result at the end.

// outputFlags lists the options of live that name a file to write, except --record.
var outputFlags = []string{"output", "bundle", "values-template"}

// checkFiles records why files that the options of live name cannot be written, and reports
// whether all of them can.
func (c *call) checkFiles() bool {
	ok := true
	for _, flag := range outputFlags {
		name, given := c.flags[flag]
		if !given || name == "-" {
			continue
		}
		if err := tryWrite(name); err != nil {
			c.addProblem("--%s: cannot write %s: %s", flag, name, cmdutil.Reason(err))
			ok = false
		}
	}
	if !c.checkStdout() || !c.checkDistinct() {
		return false
	}
	return ok
}

// checkStdout refuses two results that go to the standard output.
func (c *call) checkStdout() bool {
	out := c.flags["output"]
	if c.flags["bundle"] == "-" && (out == "" || out == "-") {
		return c.refuse("--bundle and the report cannot both go to the standard output: add --output FILE")
	}
	return true
}

// checkDistinct refuses a file that two options name.
func (c *call) checkDistinct() bool {
	names := map[string]string{}
	ok := true
	for _, flag := range append(slices.Clone(outputFlags), "record", "replay") {
		name, given := c.flags[flag]
		if !given || name == "-" {
			continue
		}
		if flag == "replay" {
			name = findRecording(name)
		}
		name = filepath.Clean(name)
		place := osfile.Place(name)
		other, taken := names[place]
		if taken && isDevice(name) {
			continue // /dev/null accepts anything
		}
		if taken {
			c.addProblem("--%s and --%s name the same file: %s", other, flag, name)
			ok = false
		}
		names[place] = flag
	}
	return ok
}

// isDevice reports whether a name is that of something else than a file.
func isDevice(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular()
}

// tryWrite returns the error that emitTo would fail with for a file, without changing
// anything.
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

// emit writes a result to the file of --output.
func (c *call) emit(name string, data []byte) int { return c.emitTo("output", name, data) }

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
