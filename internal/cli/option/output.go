package option

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"mcptest/internal/report"
)

// Free returns an error if --output exists and --force is not set.
func Free(path string, force bool) error {
	if path == "-" || path == "" {
		return nil
	}
	switch info, err := os.Lstat(path); {
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
			return rel
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
	if info, err := os.Stat(path); path == "-" || path == "" || err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil
	}
	sink, err := report.OpenSink(path, io.Discard)
	if err != nil {
		return Invalid("%v", err)
	}
	sink.Abort()
	return nil
}
