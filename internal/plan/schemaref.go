package plan

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"mcptest/internal/expect"
	"mcptest/internal/source"
	"mcptest/internal/suite"
)

// expectations compiles an `expect:` value. A schema in it may refer to files
// below the suite's directory by a relative path; nothing else is ever read.
func (c *compiler) expectations(n *source.Node, path string) expect.Expect {
	return c.expecter(n).Expect(n, path, c.dec)
}

// rematched is an assertion with another matcher, which n is; ok is false
// after a mistake.
func (c *compiler) rematched(a *expect.Assertion, n *source.Node, path string) (out *expect.Assertion, ok bool) {
	out = c.expecter(n).Rematched(a, n, path, c.dec)
	return out, out != nil
}

// expecter compiles what a node expects.
func (c *compiler) expecter(n *source.Node) expect.Compiler {
	return expect.Compiler{Schemas: c.schemas, LoadSchema: func(_ source.Pos, uri string) ([]byte, error) {
		return c.schemaFile(n, uri)
	}}
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
		return nil, fmt.Errorf("%s is outside the suite's directory (--allow-outside lets it)", name)
	}
	file, diags := source.Read(name, name)
	if file == nil {
		return nil, fmt.Errorf("%s (looked for %s)", diags[0].Msg, name)
	}
	return file.Data, nil
}

// writtenFileURL reports whether a file: URL is written anywhere below n.
func writtenFileURL(n *source.Node) bool {
	found := false
	n.MapScalars(func(sc *source.Node) *source.Node {
		found = found || strings.HasPrefix(strings.ToLower(sc.Text), "file:")
		return sc
	})
	return found
}
