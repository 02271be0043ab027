package upstream

import (
	"cmp"
	"os"
	"path/filepath"

	"mcptest/internal/base/source"
)

// locate returns the absolute path of a file that must be below the suite.
func (c *compiler) locate(name string, pos source.Pos, path string) (string, bool) {
	abs := filepath.FromSlash(name)
	if !filepath.IsLocal(abs) && !c.AllowOutside {
		c.report(pos, path, name+" is outside the suite's directory", "move it below the suite, or run with --allow-outside")
		return "", false
	}
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(c.Dir, abs)
	}
	return abs, true
}

// read returns the contents of a file.
func (c *compiler) read(name string, pos source.Pos, path string) []byte {
	abs, ok := c.locate(name, pos, path)
	if !ok {
		return nil
	}
	if c.Opened != nil {
		c.Opened(abs)
	}
	var data []byte
	var err error
	if c.AllowOutside {
		data, err = os.ReadFile(abs)
	} else {
		data, err = readInside(c.Dir, name)
	}
	switch {
	case err != nil && os.IsNotExist(err):
		near := source.FindNearFile(abs)
		if rel, err := filepath.Rel(c.Dir, near); err == nil && near != "" {
			near = filepath.ToSlash(rel)
		}
		c.report(pos, path, "can't read "+name+": no such file", cmp.Or(source.Suggest(near), "looked for "+abs))
	case err != nil:
		c.report(pos, path, "can't read "+name+": "+err.Error(), "")
	case len(data) > MaxBody:
		c.report(pos, path, name+" is larger than 16 MiB", "")
	}
	return data
}

// readInside reads a file and follows no symbolic link that leaves the folder.
func readInside(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.ReadFile(filepath.FromSlash(name))
}
