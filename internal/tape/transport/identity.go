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
// name, the recorded command decides which numbered file belongs to which server, because
// the numbers depend on the suites of the run.
func (f *Folder) find(p *plan.Plan) (map[string]*cassette.Cassette, error) {
	o := opener{dir: f.dir, found: map[string]*cassette.Cassette{}}
	for _, file := range p.Files {
		for _, s := range file.Servers {
			name, err := o.chooseName(s, f.names[s.Key])
			if err != nil {
				return o.found, err
			}
			f.names[s.Key] = name
		}
	}
	return o.found, nil
}

// opener opens each cassette of a folder once.
type opener struct {
	dir   string
	found map[string]*cassette.Cassette
}

// open returns a cassette, or nil if there is none of this name.
func (o *opener) open(name string) (*cassette.Cassette, error) {
	if o.found[name] != nil {
		return o.found[name], nil
	}
	c, err := cassette.Open(filepath.ToSlash(filepath.Join(o.dir, name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		o.found[name] = c
	}
	return c, err
}

// chooseName returns the name of the cassette that was recorded from a server: the first one, or
// one with a number. If there is none, it is the first one.
func (o *opener) chooseName(s *plan.Server, first string) (string, error) {
	name := first
	for n := 1; ; n++ {
		c, err := o.open(name)
		if err != nil || c == nil {
			return first, err
		}
		if isSameServer(c.Server, s) {
			return name, nil
		}
		name = makeNumberedName(s, n)
	}
}

// claim gives each server the cassette that its suite recorded before. It returns an error
// if another suite would lose its requests.
func (f *Folder) claim(p *plan.Plan) error {
	run := slices.Concat(slices.Collect(maps.Values(f.users))...)
	for _, file := range p.Files {
		for _, s := range file.Servers {
			losers := f.findLosers(f.names[s.Key], run)
			if len(losers) == 0 {
				continue
			}
			own := f.findOwnName(s, run)
			if own == "" {
				return fmt.Errorf("%s has the requests of %s, which is not part of this run, and would lose them: "+
					"record these suites together, record to another folder, or remove the file first",
					f.pathOf(f.names[s.Key]), f.pathOf(losers[0]))
			}
			f.names[s.Key] = own
		}
	}
	return nil
}

// findOwnName returns the first numbered cassette of a server that no suite outside of the run
// and no other server uses; "" if there is none.
func (f *Folder) findOwnName(s *plan.Server, run []string) string {
	used := slices.Collect(maps.Values(f.names))
	for n := 1; ; n++ {
		name := makeNumberedName(s, n)
		if _, err := cassette.ReadHeader(f.pathOf(name)); err != nil {
			return ""
		}
		if len(f.findLosers(name, run)) == 0 && !slices.Contains(used, name) {
			return name
		}
	}
}

// findLosers returns the suites that a cassette was recorded with, other than those of the
// run and those that do not exist any more.
func (f *Folder) findLosers(name string, run []string) (suites []string) {
	h, _ := cassette.ReadHeader(f.pathOf(name)) // without suites if there is no cassette
	for _, suite := range h.Suites {
		if _, err := os.Stat(filepath.Join(f.dir, suite)); err == nil && !slices.Contains(run, suite) {
			suites = append(suites, suite)
		}
	}
	return suites
}

// isSameServer reports whether a cassette was recorded from a server with this
// configuration. Folders of absolute paths and ports of this machine do not count:
// they differ between machines and runs.
func isSameServer(rec cassette.Server, s *plan.Server) bool {
	if len(rec.Command) == 0 || s.Argv == nil {
		return rec.URL == "" || s.URL == "" || secret.Matches(cutPort(rec.URL), cutPort(s.URL))
	}
	return slices.EqualFunc(rec.Command, s.Written(), func(rec, live string) bool {
		return secret.Matches(cutFolder(rec), cutFolder(live))
	})
}

func cutFolder(arg string) string {
	if filepath.IsAbs(arg) || strings.HasPrefix(arg, "/") {
		return filepath.Base(arg)
	}
	return arg
}

func cutPort(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	if web.IsLoopback(u.Hostname()) {
		u.Host = "localhost"
	}
	return u.String()
}

// makeName returns a command or a URL for people.
func makeName(command []string, address string) string {
	if len(command) > 0 {
		return strings.Join(command, " ")
	}
	return address
}
