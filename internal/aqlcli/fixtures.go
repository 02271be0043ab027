package aqlcli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mcptest/internal/aql"
	"mcptest/internal/cmdutil"
	"mcptest/internal/osfile"
	"mcptest/internal/source"
)

func (c *call) verifyFixtures() int {
	rows, ok := c.fixtures()
	if !ok {
		return aql.ExitConfig
	}
	var b strings.Builder
	code := aql.ExitPassed
	for _, v := range rows {
		verdict := "PASS"
		if !v.OK() {
			verdict, code = "FAIL", aql.ExitFailed
			c.diagnostics(v.Problems)
		}
		fmt.Fprintf(&b, "%s %s -> expected %d, got %d\n", verdict, v.Name, v.Expected, v.Got)
	}
	return max(code, c.emit("-", []byte(b.String())))
}

// fixtures judges the bundles that the command line asks for.
func (c *call) fixtures() ([]aql.Verified, bool) {
	if dir, ok := c.flags["write"]; ok && !c.writeFixtures(dir) {
		return nil, false
	}
	if len(c.args) > 0 {
		return c.folder(c.args[0])
	}
	own, err := aql.Fixtures()
	if err != nil {
		c.problem("cannot make the fixtures: %s", err)
		return nil, false
	}
	var rows []aql.Verified
	for _, f := range own {
		rules := f.Rules
		if r, ok := c.flags["rules"]; ok {
			rules = aql.RuleSet(r)
		}
		rows = append(rows, aql.Verify(&source.File{Name: f.Name, Data: f.Data}, rules))
	}
	return rows, true
}

// folder judges the bundles of a folder and of those in it.
func (c *call) folder(dir string) ([]aql.Verified, bool) {
	var rows []aql.Verified
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != dir && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
			return fs.SkipDir
		case entry.IsDir() || !strings.EqualFold(filepath.Ext(name), ".json"):
			return nil
		}
		f := c.read(name)
		if f == nil {
			return errReported
		}
		v := aql.Verify(f, aql.RuleSet(c.flags["rules"]))
		if rel, err := filepath.Rel(dir, name); err == nil {
			v.Name = filepath.ToSlash(rel)
		}
		rows = append(rows, v)
		return nil
	})
	switch {
	case errors.Is(err, errReported):
		return nil, false
	case err != nil:
		c.problem("cannot read the folder %s: %s", dir, cmdutil.Reason(err))
		return nil, false
	case len(rows) == 0:
		c.problem("there is no *.json bundle in %s", dir)
	}
	return rows, len(rows) > 0
}

var errReported = errors.New("a problem that was reported")

// writeFixtures writes the program's own fixtures, a folder for each rule
// set.
func (c *call) writeFixtures(dir string) bool {
	own, err := aql.Fixtures()
	for _, rules := range aql.RuleSets() {
		err = errors.Join(err, os.MkdirAll(filepath.Join(dir, rules), 0o777))
	}
	for _, f := range own {
		if err == nil {
			err = osfile.Replace(filepath.Join(dir, string(f.Rules), f.Name), f.Data, 0o644)
		}
	}
	if err != nil {
		c.problem("--write: cannot write to %s: %s", dir, cmdutil.Reason(err))
	}
	return err == nil
}
