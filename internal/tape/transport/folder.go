package transport

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/base/lists"
	"mcptest/internal/base/osfile"
	"mcptest/internal/base/secret"
	"mcptest/internal/client/wire"
	"mcptest/internal/run/connect"
	"mcptest/internal/spec/plan"
	"mcptest/internal/tape/cassette"
)

// Folder holds the cassettes of a run, one for each server. Its dialers are safe
// for concurrent use.
type Folder struct {
	dir   string
	o     Options
	names map[string]string   // of files, by the key of their server
	users map[string][]string // suites with a server, by its key; see [cassette.Header]

	mu      sync.Mutex
	files   map[string]*recording // by name
	players map[string]*cassette.Player
	dialed  map[string]int // connections, by name
	others  []Other
}

// Options configure the use of a folder.
type Options struct {
	Program  string // goes into the headers
	Redact   *secret.Redactor
	Volatile []string // see [cassette.Header]
}

// recording is a cassette that is being written.
type recording struct {
	w   *cassette.Writer
	err error
}

// newFolder assigns a file name to each server: that of the server, with a number if
// different servers of several suites have the same name, or names that differ in case only.
func newFolder(dir string, p *plan.Plan, o Options) *Folder {
	f := &Folder{
		dir:     dir,
		o:       o,
		names:   map[string]string{},
		users:   map[string][]string{},
		files:   map[string]*recording{},
		players: map[string]*cassette.Player{},
		dialed:  map[string]int{},
	}
	taken, before := map[string]int{}, map[string]int{}
	for _, file := range p.Files {
		for _, s := range file.Servers {
			f.users[s.Key] = append(f.users[s.Key], f.nameSuite(file))
			if f.names[s.Key] != "" {
				continue
			}
			folded := osfile.FoldName(makeFileName(s.Name))
			taken[folded]++
			before[makeFileName(s.Name)]++
			f.names[s.Key] = makeNumberedName(s, taken[folded])
			earlier := makeEarlierName(s, before[makeFileName(s.Name)])
			if f.isCassetteOf(s, earlier) && !f.exists(f.names[s.Key]) {
				f.names[s.Key] = earlier
			}
		}
	}
	return f
}

// pathOf returns the path of a cassette, with slashes on every system: messages show it.
func (f *Folder) pathOf(name string) string { return filepath.ToSlash(filepath.Join(f.dir, name)) }

// nameSuite returns the path of a suite as in [cassette.Header].
func (f *Folder) nameSuite(file *plan.File) string {
	path := filepath.Join(file.Dir, filepath.Base(file.Path))
	if dir, err := filepath.Abs(f.dir); err == nil {
		if rel, err := filepath.Rel(dir, path); err == nil {
			path = rel
		}
	}
	return filepath.ToSlash(path)
}

// makeNumberedName returns the name of the n-th cassette of servers with the same name.
func makeNumberedName(s *plan.Server, n int) string {
	if n == 1 {
		return makeFileName(s.Name) + cassette.Suffix
	}
	return fmt.Sprintf("%s-%d%s", makeFileName(s.Name), n, cassette.Suffix)
}

// FindUnusedName returns the path in a folder of a new cassette of a server. Nothing is there yet, not
// even one that is being recorded.
func FindUnusedName(dir string, s *plan.Server) string {
	for n := 1; ; n++ {
		path := filepath.ToSlash(filepath.Join(dir, makeNumberedName(s, n)))
		_, err := os.Lstat(path)
		_, partial := os.Lstat(path + cassette.PartialSuffix)
		if err != nil && partial != nil {
			return path
		}
	}
}

// makeFileName returns the name of the cassette of a server, without a number and suffix.
func makeFileName(server string) string {
	name := osfile.MakePortable(server)
	if name == "" {
		return "server"
	}
	return name
}

// makeEarlierName is makeNumberedName as it was before names were the same on all systems: those of
// devices of Windows were allowed, and names that differ in case only.
func makeEarlierName(s *plan.Server, n int) string {
	name := makeFileName(s.Name)
	if strings.EqualFold(strings.Replace(name, "_", "", 1), s.Name) {
		name = s.Name
	}
	if n > 1 {
		name = fmt.Sprintf("%s-%d", name, n)
	}
	return name + cassette.Suffix
}

// isCassetteOf reports whether a file of the folder is a cassette of a server with that name.
// On Windows the file of a device is there always.
func (f *Folder) isCassetteOf(s *plan.Server, name string) bool {
	if runtime.GOOS == "windows" {
		return false
	}
	h, err := cassette.ReadHeader(f.pathOf(name))
	return err == nil && h.Server.Name == s.Name
}

func (f *Folder) exists(name string) bool {
	_, err := os.Stat(f.pathOf(name))
	return err == nil
}

// Record returns a folder to which the connections of a plan are recorded. It creates
// the folder.
func Record(dir string, p *plan.Plan, o Options) (*Folder, error) {
	if err := cassette.CheckVolatile(o.Volatile); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f := newFolder(dir, p, o)
	for _, name := range f.names {
		if err := cassette.CheckReplaceable(filepath.ToSlash(filepath.Join(dir, name))); err != nil {
			return nil, err
		}
	}
	return f, f.claim(p)
}

// Recorder returns a dialer that records the connections of next; nil means
// [connect.Dial].
func (f *Folder) Recorder(next connect.Dialer) connect.Dialer {
	if next == nil {
		next = connect.Dial
	}
	return func(ctx context.Context, s *plan.Server, o connect.Options) (wire.Transport, error) {
		w, err := f.openWriter(s)
		if err != nil {
			return nil, err
		}
		return Recorder(w, next)(ctx, s, o)
	}
}

// Recorder returns a dialer that records each connection of next as a session of a cassette.
func Recorder(w *cassette.Writer, next connect.Dialer) connect.Dialer {
	return func(ctx context.Context, s *plan.Server, o connect.Options) (wire.Transport, error) {
		log := NewLog(w)
		o.Wrap = func(base http.RoundTripper) http.RoundTripper { return HTTP(base, log) }
		t, err := next(ctx, s, o)
		switch {
		case err != nil:
			log.Failed(err)
			return nil, err
		case s.Argv != nil:
			t = Stdio(t, log)
		}
		return t, nil
	}
}

// openWriter returns the cassette of a server. It creates the cassette on first use.
func (f *Folder) openWriter(s *plan.Server) (*cassette.Writer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := f.names[s.Key]
	r := f.files[name]
	if r == nil {
		h := MakeHeader(s)
		h.Program, h.Volatile, h.Suites = f.o.Program, f.o.Volatile, f.users[s.Key]
		r = &recording{}
		r.w, r.err = cassette.Create(f.pathOf(name), h, f.o.Redact)
		f.files[name] = r
	}
	return r.w, r.err
}

// MakeHeader returns the header of a cassette of a server.
func MakeHeader(s *plan.Server) cassette.Header {
	h := cassette.Header{
		Server:    cassette.Server{Name: s.Name, Command: s.Written(), URL: s.URL},
		Transport: cassette.Stdio,
	}
	if s.Argv == nil {
		h.Transport = cassette.StreamableHTTP
		if s.Transport == wire.HTTPSSE {
			h.Transport = cassette.HTTPSSE
		}
	}
	return h
}

// Replay opens the cassettes of the servers of a plan.
func Replay(dir string, p *plan.Plan, o Options) (*Folder, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is a file, expected the folder that --record wrote; mcptest serve --cassette answers from one file", dir)
	}
	f := newFolder(dir, p, o)
	found, err := f.find(p)
	for name, c := range found {
		var player *cassette.Player
		if err == nil && slices.Contains(slices.Collect(maps.Values(f.names)), name) {
			if err = c.Ignore(o.Volatile); err == nil {
				player, err = cassette.NewPlayer(c, o.Redact)
			}
		}
		if player == nil {
			_ = c.Close()
			continue
		}
		f.players[name] = player
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if len(f.players) == 0 {
		return nil, fmt.Errorf("%s contains no cassette of these suites: record them with --record %s", dir, dir)
	}
	return f, nil
}

// Dial connects to the recording of a server; it implements [connect.Dialer].
func (f *Folder) Dial(ctx context.Context, s *plan.Server, o connect.Options) (wire.Transport, error) {
	name := f.names[s.Key]
	p := f.players[name]
	if p == nil {
		return nil, &wire.OpenError{Phase: "start", Cause: fmt.Errorf("%s has no cassette of the server %s (expected %s)", f.dir, s.Name, name)}
	}
	f.mu.Lock()
	f.dialed[name]++
	n := f.dialed[name]
	rec := p.Cassette().Server
	if !isSameServer(rec, s) && !slices.ContainsFunc(f.others, func(o Other) bool { return o.Server == s.Name }) {
		masked := string(f.o.Redact.Bytes([]byte(makeName(s.Written(), s.URL))))
		f.others = append(f.others, Other{p.Cassette().File, s.Name, makeName(rec.Command, rec.URL), masked})
	}
	f.mu.Unlock()
	if web := p.Cassette().Transport != cassette.Stdio; web != (s.Argv == nil) {
		return nil, &wire.OpenError{Phase: "start", Cause: fmt.Errorf("%s was recorded over %s, but the server is configured differently: record it again", name, p.Cassette().Transport)}
	}
	return Dialer(p, n)(ctx, s, o)
}

// Dialer returns a dialer to the recorded server. n counts the connections, from 1.
func Dialer(p *cassette.Player, n int) connect.Dialer {
	return func(_ context.Context, s *plan.Server, o connect.Options) (wire.Transport, error) {
		if s.Argv != nil {
			return ReplayStdio(p, n, o.Limits)
		}
		if why := findFailedOpen(p, n); why != nil {
			return nil, why
		}
		h := connect.MakeHTTPOptions(s, o)
		replayed := newHTTPReplay(p, n)
		if s.Auth != nil {
			h.Auth = replayedAuth{replayed}
		}
		h.Wrap = func(http.RoundTripper) http.RoundTripper { return replayed }
		h.Receive = replayed.wrapReceiver
		return wire.NewHTTP(s.URL, h)
	}
}

// replayedAuth replaces the credentials of the recorded client: it repeats exactly
// the requests that the client repeated after a challenge.
type replayedAuth struct{ replay *httpReplay }

func (replayedAuth) Authorize(context.Context, *http.Request) error { return nil }

func (replayedAuth) Reuse(*http.Request) {}

func (a replayedAuth) Challenged(_ context.Context, resp *http.Response) (bool, error) {
	body, err := takeBody(resp.Request)
	return err == nil && a.replay.client.HasMore(body), err
}

// ListPlayers returns the replayed cassettes, in the order of their names.
func (f *Folder) ListPlayers() []*cassette.Player {
	return lists.Map(slices.Sorted(maps.Keys(f.players)), func(name string) *cassette.Player { return f.players[name] })
}

// ListExisting returns the cassettes in the folder that a recording of the plan replaces.
func (f *Folder) ListExisting() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Values(f.names)), func(name string) bool {
		info, err := os.Stat(f.pathOf(name))
		return err != nil || info.Size() == 0
	})
}

// Interrupt makes Close leave existing cassettes unchanged.
func (f *Folder) Interrupt() {
	for _, r := range f.files {
		if r.w != nil {
			r.w.Interrupt()
		}
	}
}

// CountWritten returns after Close how many cassettes were recorded, and why others were not.
func (f *Folder) CountWritten() (n int, unsaved []string) {
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		r := f.files[name]
		switch {
		case r.w == nil:
		case r.w.ExplainUnsaved() != "":
			unsaved = append(unsaved, r.w.ExplainUnsaved())
		default:
			n++
		}
	}
	return n, unsaved
}

// Close ends the recordings, and closes the replayed cassettes. Its error describes
// data that could not be written.
func (f *Folder) Close() error {
	var errs []error
	for _, r := range f.files {
		if r.w != nil {
			errs = append(errs, r.w.Close())
		}
	}
	for _, p := range f.players {
		errs = append(errs, p.Cassette().Close())
	}
	return errors.Join(errs...)
}
