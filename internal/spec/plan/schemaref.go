package plan

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/match"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite"
)

// compileExpecting returns the compiler of the expectations in a node, of a test of a list.
func (c *compiler) compileExpecting(n *source.Node, list suite.Block) expect.Compiler {
	out := expect.Compiler{Upstreams: c.suite.Upstreams.Keys(), List: string(list), Options: match.Options{
		Models:     append([]string{}, c.suite.Models.Keys()...),
		Schemas:    c.schemas,
		Dir:        c.suite.Dir,
		Opened:     c.file.inputs.add,
		LoadSchema: func(_ source.Pos, uri string) ([]byte, error) { return c.readSchemaFile(n, uri) },
	}}
	for _, sv := range c.file.Servers {
		out.Servers = append(out.Servers, sv.Name)
	}
	return out
}

func (c *compiler) readSchemaFile(in *source.Node, uri string) ([]byte, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" {
		return nil, errors.New("only schema files below the suite's directory are read, by a relative path")
	}
	if isFileURL(in) {
		return nil, errors.New("file: URLs are never read; write a path relative to the suite")
	}
	name := readURLPath(u.Path)
	if !c.set.AllowOutside && !suite.IsInside(c.suite.Dir, name) {
		return nil, fmt.Errorf("%s is outside the suite's directory (--allow-outside permits it)", name)
	}
	c.file.inputs.add(name)
	file, diags := source.Read(name, makeShortName(in, name))
	if file == nil {
		if !strings.HasSuffix(diags[0].Msg, ")") { // no similar file
			diags[0].Msg += " (looked for " + name + ")"
		}
		return nil, errors.New(diags[0].Msg)
	}
	return file.Data, nil
}

// readURLPath returns the file that the path of a file: URL names. On Windows /C:/x is C:\x.
func readURLPath(path string) string {
	if local := strings.TrimPrefix(path, "/"); filepath.VolumeName(local) != "" && !strings.HasPrefix(local, "/") {
		path = local
	}
	return filepath.FromSlash(path)
}

// makeShortName returns the path of a file from the folder of the file that has n.
func makeShortName(n *source.Node, name string) string {
	rel, err := filepath.Rel(filepath.Dir(n.Pos.File.Path), name)
	if err != nil || !filepath.IsLocal(rel) {
		return name
	}
	return filepath.ToSlash(rel)
}

// isFileURL reports whether n contains a file: URL.
func isFileURL(n *source.Node) bool {
	found := false
	n.MapScalars(func(sc *source.Node) *source.Node {
		found = found || strings.HasPrefix(strings.ToLower(sc.Text), "file:")
		return sc
	})
	return found
}
