package transport

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/web"
	"mcptest/internal/spec/plan"
	"mcptest/internal/tape/cassette"
)

// Other is a cassette that was recorded from another server than the configured one
// of the same name.
type Other struct {
	File, Server         string
	Recorded, Configured string // commands or URLs
}

// Others returns the replayed cassettes that were recorded from other servers.
func (f *Folder) Others() []Other {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.others)
}

// find opens the cassettes of a plan. If servers of several suites have the same
// name, the recorded command decides which of the numbered files is whose, because
// the numbers depend on the suites of the run.
func (f *Folder) find(p *plan.Plan) (map[string]*cassette.Cassette, error) {
	found := map[string]*cassette.Cassette{}
	open := func(name string) (*cassette.Cassette, error) {
		if found[name] != nil {
			return found[name], nil
		}
		c, err := cassette.Open(filepath.Join(f.dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err == nil:
			found[name] = c
		}
		return c, err
	}
	for _, file := range p.Files {
		for _, s := range file.Servers {
			c, err := open(f.names[s.Key])
			for n := 1; err == nil && c != nil && !sameServer(c.Server, s); n++ {
				name := numberedName(s, n)
				if c, err = open(name); c != nil && sameServer(c.Server, s) {
					f.names[s.Key] = name
				}
			}
			if err != nil {
				return found, err
			}
		}
	}
	return found, nil
}

// claim makes the servers of a recording keep the cassettes that their suites have
// recorded before. It returns an error if another suite would lose its requests.
func (f *Folder) claim(p *plan.Plan) error {
	run := slices.Concat(slices.Collect(maps.Values(f.users))...)
	for _, file := range p.Files {
		for _, s := range file.Servers {
			name := f.names[s.Key]
			_, losers := f.losers(name, run)
			for n, there := 1, true; there && len(losers) > 0; n++ {
				var others []string
				name = numberedName(s, n)
				there, others = f.losers(name, run)
				if there && len(others) == 0 && !slices.Contains(slices.Collect(maps.Values(f.names)), name) {
					f.names[s.Key], losers = name, nil
				}
			}
			if len(losers) > 0 {
				return fmt.Errorf("%s has the requests of %s, which is not part of this run, and would lose them: record these suites together, "+
					"record to another folder, or remove the file first", filepath.Join(f.dir, f.names[s.Key]), filepath.Join(f.dir, losers[0]))
			}
		}
	}
	return nil
}

// losers returns the suites that a cassette was recorded with, other than those of the
// run and those that do not exist any more, and whether there is such a cassette.
func (f *Folder) losers(name string, run []string) (there bool, out []string) {
	h, err := cassette.ReadHeader(filepath.Join(f.dir, name))
	for _, suite := range h.Suites {
		if _, err := os.Stat(filepath.Join(f.dir, suite)); err == nil && !slices.Contains(run, suite) {
			out = append(out, suite)
		}
	}
	return err == nil, out
}

// sameServer reports whether a cassette was recorded from a server with this
// configuration. Folders of absolute paths and ports of this machine do not count:
// they differ between machines and runs.
func sameServer(rec cassette.Server, s *plan.Server) bool {
	if len(rec.Command) == 0 || s.Argv == nil {
		return rec.URL == "" || s.URL == "" || secret.Matches(withoutPort(rec.URL), withoutPort(s.URL))
	}
	return slices.EqualFunc(rec.Command, s.Written(), func(rec, live string) bool {
		return secret.Matches(withoutFolder(rec), withoutFolder(live))
	})
}

func withoutFolder(arg string) string {
	if filepath.IsAbs(arg) || strings.HasPrefix(arg, "/") {
		return filepath.Base(arg)
	}
	return arg
}

func withoutPort(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	if web.IsLoopback(u.Hostname()) {
		u.Host = "localhost"
	}
	return u.String()
}

// nameOf returns a command or a URL for people.
func nameOf(command []string, address string) string {
	if len(command) > 0 {
		return strings.Join(command, " ")
	}
	return address
}
