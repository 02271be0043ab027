package history

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"mcptest/internal/base/osfile"
)

// Dir is the folder in which a command keeps what later ones use.
const Dir = ".mcptest"

// FindFolder creates the folder in dir if need be, with a .gitignore that keeps it
// out of repositories, and returns its path.
func FindFolder(dir string) (string, error) {
	folder := filepath.Join(dir, Dir)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	ignore := filepath.Join(folder, ".gitignore")
	if _, err := os.Lstat(ignore); errors.Is(err, fs.ErrNotExist) {
		return folder, os.WriteFile(ignore, []byte("*\n"), 0o600)
	}
	return folder, nil
}

// read decodes a file of the folder in dir, and reports whether it could.
func read(dir, name string, into any) bool {
	data, err := os.ReadFile(filepath.Join(dir, Dir, name))
	return err == nil && json.Unmarshal(data, into) == nil
}

// write replaces a file of the folder in dir. Read accepts one that a loss of power damaged.
func write(dir, name string, content any) error {
	folder, err := FindFolder(dir)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return err
	}
	return osfile.ReplaceCache(filepath.Join(folder, name), append(data, '\n'), 0o666)
}
