package aqlcli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mcptest/internal/base/lists"
	"mcptest/internal/base/osfile"
	"mcptest/internal/base/source"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/mcpaql/fixtures"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
)

func (c *call) verifyFixtures() int {
	rows, ok := c.judgeFixtures()
	if !ok {
		return verdict.ExitConfig
	}
	var b strings.Builder
	code := verdict.ExitPassed
	for _, v := range rows {
		word := "PASS"
		if !v.OK() {
			word, code = "FAIL", verdict.ExitFailed
			c.addDiagnostics(v.Problems)
		}
		fmt.Fprintf(&b, "%s %s -> expected %d, got %d\n", word, v.Name, v.Expected, v.Got)
	}
	return max(code, c.emit("-", []byte(b.String())))
}

// judgeFixtures judges the requested bundles.
func (c *call) judgeFixtures() ([]fixtures.Verified, bool) {
	if dir, ok := c.flags["write"]; ok && !c.writeFixtures(dir) {
		return nil, false
	}
	if len(c.args) > 0 {
		return c.judgeFolder(c.args[0])
	}
	return lists.Map(fixtures.LoadAll(), func(f fixtures.Fixture) fixtures.Verified {
		return fixtures.Verify(&source.File{
			Name: f.Name,
			Data: f.Data,
		}, cmp.Or(rule.Set(c.flags["rules"]), f.Rules))
	}), true
}

// judgeFolder judges the bundles of a folder and its subfolders.
func (c *call) judgeFolder(dir string) ([]fixtures.Verified, bool) {
	var rows []fixtures.Verified
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != dir && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
			return fs.SkipDir
		case entry.IsDir() || !strings.EqualFold(filepath.Ext(name), ".json"):
			return nil
		}
		f := c.read(filepath.ToSlash(name))
		if f == nil {
			return fs.SkipAll
		}
		v := fixtures.Verify(f, rule.Set(c.flags["rules"]))
		if rel, err := filepath.Rel(dir, name); err == nil {
			v.Name = filepath.ToSlash(rel)
		}
		rows = append(rows, v)
		return nil
	})
	switch {
	case err != nil:
		return nil, c.refuse("cannot read the folder %s: %s", dir, cmdutil.Reason(err))
	case len(rows) == 0 && len(c.problems) == 0:
		c.addProblem("there is no *.json bundle in %s", dir)
	}
	return rows, len(c.problems) == 0
}

// writeFixtures writes the program's own fixtures, a folder for each rule
// set.
func (c *call) writeFixtures(dir string) bool {
	var err error
	for _, rules := range rule.Sets() {
		err = errors.Join(err, os.MkdirAll(filepath.Join(dir, rules), 0o777))
	}
	for _, f := range fixtures.LoadAll() {
		if err == nil {
			err = osfile.Replace(filepath.Join(dir, string(f.Rules), f.Name), f.Data, 0o644)
		}
	}
	if err != nil {
		c.addProblem("--write: cannot write to %s: %s", dir, cmdutil.Reason(err))
	}
	return err == nil
}
