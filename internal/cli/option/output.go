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
