package transport

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/cassette"
	"mcptest/internal/plan"
	"mcptest/internal/secret"
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
				name := fileName(s.Name) + cassette.Suffix
				if n > 1 {
					name = fmt.Sprintf("%s-%d%s", fileName(s.Name), n, cassette.Suffix)
				}
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

// sameServer reports whether a cassette was recorded from a server with this
// configuration. Folders of absolute paths and ports of this machine do not count:
// they differ between machines and runs.
func sameServer(rec cassette.Server, s *plan.Server) bool {
	if len(rec.Command) == 0 || s.Argv == nil {
		return rec.URL == "" || s.URL == "" || secret.Matches(withoutPort(rec.URL), withoutPort(s.URL))
	}
	return slices.EqualFunc(rec.Command, s.Argv, func(rec, live string) bool {
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
	if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
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
