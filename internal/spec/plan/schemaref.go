package plan

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/match"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite"
)

// expecting returns the compiler of the expectations in a node, of a test of a list.
func (c *compiler) expecting(n *source.Node, list suite.Block) expect.Compiler {
	out := expect.Compiler{Upstreams: c.suite.Upstreams.Keys(), List: string(list), Options: match.Options{
		Models: append([]string{}, c.suite.Models.Keys()...), Schemas: c.schemas, Dir: c.suite.Dir, Opened: c.file.inputs.add,
		LoadSchema: func(_ source.Pos, uri string) ([]byte, error) { return c.schemaFile(n, uri) },
	}}
	for _, sv := range c.file.Servers {
		out.Servers = append(out.Servers, sv.Name)
	}
	return out
}

func (c *compiler) schemaFile(in *source.Node, uri string) ([]byte, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" {
		return nil, errors.New("only schema files below the suite's directory are read, by a relative path")
	}
	if writtenFileURL(in) {
		return nil, errors.New("file: URLs are never read; write a path relative to the suite")
	}
	name := filepath.FromSlash(u.Path)
	if !c.set.AllowOutside && !suite.Inside(c.suite.Dir, name) {
		return nil, fmt.Errorf("%s is outside the suite's directory (--allow-outside permits it)", name)
	}
	c.file.inputs.add(name)
	file, diags := source.Read(name, name)
	if file == nil {
		return nil, fmt.Errorf("%s (%s)", diags[0].Msg, cmp.Or(similarFile(in, name), "looked for "+name))
	}
	return file.Data, nil
}

// similarFile suggests a file of the same folder, by its path from the file that has n.
func similarFile(n *source.Node, name string) string {
	names, _ := fs.Glob(os.DirFS(filepath.Dir(name)), "*")
	near := source.Nearest(filepath.Base(name), names)
	if near == "" {
		return ""
	}
	rel, _ := filepath.Rel(filepath.Dir(n.Pos.File.Path), filepath.Join(filepath.Dir(name), near))
	return source.Suggest(filepath.ToSlash(rel))
}

// writtenFileURL reports whether n contains a file: URL.
func writtenFileURL(n *source.Node) bool {
	found := false
	n.MapScalars(func(sc *source.Node) *source.Node {
		found = found || strings.HasPrefix(strings.ToLower(sc.Text), "file:")
		return sc
	})
	return found
}
