package surface

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/osfile"
	"mcptest/internal/base/source"
)

// Read reads the surfaces in a file or a folder: one, or several if the folder
// contains the lock files of several servers. mask hides secrets in texts. Errors
// contain the file and, if known, the line.
func Read(path string, mask func(string) string) ([]*Surface, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, explainFileError(path, err)
	}
	if st.IsDir() {
		return readFolder(path, mask)
	}
	s, err := readFile(path, mask)
	if err != nil {
		return nil, err
	}
	return []*Surface{s}, nil
}

// readFolder reads lock files, or else toolsnaps, which contain one tool each.
func readFolder(dir string, mask func(string) string) ([]*Surface, error) {
	locks, err := filepath.Glob(filepath.Join(osfile.EscapeGlob(dir), "*.lock.yaml"))
	if err != nil {
		return nil, err
	}
	var out []*Surface
	for _, path := range locks {
		s, err := readFile(filepath.ToSlash(path), mask)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(out, func(o *Surface) bool { return o.Server == s.Server }); i >= 0 {
			return nil, fmt.Errorf("%s and %s are both of the server %q", out[i].Source, path, s.Server)
		}
		out = append(out, s)
	}
	if len(out) > 0 {
		return out, nil
	}
	s, err := readSnaps(dir, mask)
	if err != nil {
		return nil, err
	}
	return []*Surface{s}, nil
}

func readFile(path string, mask func(string) string) (*Surface, error) {
	if isYAML(path) {
		f, diags := source.Read(path, path)
		if diags.HasErrors() {
			return nil, diags
		}
		return ParseLock(f)
	}
	v, data, err := parseJSON(path)
	if err != nil {
		return nil, err
	}
	doc, err := readLists(v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	offset, line := 0, 1 // of the previous definition, because positions are requested in order
	s := New(doc.server, doc.handshake, doc.lists, mask, func(v jsonv.Value) int {
		if v.Offset() < 0 {
			return 0
		}
		if v.Offset() < offset {
			offset, line = 0, 1
		}
		line += bytes.Count(data[offset:v.Offset()], []byte("\n"))
		offset = v.Offset()
		return line
	})
	s.Source, s.Calls, s.Pages = path, readRecordCalls(v, doc.server), doc.pages
	for _, l := range Lists() {
		if _, listed := doc.lists[l.Kind]; !listed {
			s.Unknown = append(s.Unknown, l.Kind)
		}
	}
	return s, nil
}

// isYAML reports whether a file is YAML by its name, or begins with a comment, as
// lock files do.
func isYAML(path string) bool {
	if ext := strings.ToLower(filepath.Ext(path)); ext == ".yaml" || ext == ".yml" {
		return true
	}
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() { // a pipe can be read only once
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var first [1]byte
	n, _ := f.Read(first[:])
	return n == 1 && first[0] == '#'
}
