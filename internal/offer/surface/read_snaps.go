package surface

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"mcptest/internal/base/jsonv"
)

// readSnaps reads a folder of toolsnaps, with its subfolders.
func readSnaps(dir string, mask func(string) string) (*Surface, error) {
	var tools []jsonv.Value
	from := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".snap") {
			return err
		}
		v, _, err := parseJSON(path)
		if err != nil {
			return err
		}
		if v.Kind() != jsonv.KindObject {
			return fmt.Errorf("%s: expected the definition of a tool, got %s", path, v.Kind().WithArticle())
		}
		name := v.Lookup("name").Text()
		if name == "" {
			name = strings.TrimSuffix(filepath.Base(path), ".snap")
			v = v.With("name", jsonv.String(name))
		}
		if other := from[name]; other != "" {
			return fmt.Errorf("%s: the tool %q is also defined in %s", path, name, other)
		}
		from[name] = path
		tools = append(tools, v)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(tools) == 0 {
		return nil, fmt.Errorf("%s: expected lock files (*.lock.yaml) or toolsnaps (*.snap) in the folder, found none", dir)
	}
	s := New("", jsonv.Value{}, map[Kind][]jsonv.Value{Tool: tools}, mask, nil)
	s.Source, s.Unknown = dir, []Kind{Resource, Template, Prompt, Skill}
	return s, nil
}
