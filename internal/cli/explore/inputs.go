package explore

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/source"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/doctor"
	"mcptest/internal/cli/option"
	"mcptest/internal/client/mcp"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/inspect"
	"mcptest/internal/spec/plan"
	"mcptest/internal/ui/live"
)

// flags are the flags of `mcptest ui`.
type flags struct {
	option.TargetFlags
	cassettes []string
	port      int
	noOpen    bool
	record    string // a folder
	idle      time.Duration
}

// inputs are what the command line names: suites, or one server. They implement
// [live.Host].
type inputs struct {
	flags    *flags
	streams  cmdutil.Streams
	redactor *secret.Redactor
	shared   *option.Shared
	recorded func(connect.Dialer) connect.Dialer // the dialer with --record
	paths    []string                            // of suites that tests may be written to
	creates  bool                                // paths has one file, which does not exist yet
	one      *plan.Server                        // of --url or a command; nil: the servers of the suites
	argv     []string

	mu    sync.Mutex
	last  []*plan.Server
	files []string // that the last reading read
	stamp string   // of the files, from before they were read
}

// loadSuites decides what the page works with.
func (f *flags) loadSuites(
	cmd *cobra.Command, s cmdutil.Streams, args []string, redactor *secret.Redactor,
) (*inputs, error) {
	in := &inputs{flags: f, streams: s, redactor: redactor}
	own, argv, err := f.Split(cmd, args, len(args))
	if err != nil {
		return nil, err
	}
	if in.argv = argv; len(argv) > 0 || f.URL != "" {
		return in, in.useServer(own)
	}
	if len(own) == 0 && len(f.Configs) == 0 && !hasDefault() {
		if len(f.cassettes) > 0 {
			return in, nil
		}
		return nil, option.Invalid("%s", threeForms)
	}
	in.paths, err = f.Paths(own)
	return in, err
}

const threeForms = `there is no mcptest.yaml here. The forms:
  mcptest ui SUITE                 the servers of a suite
  mcptest ui --url URL             one server at an address; a kept test creates ./mcptest.yaml
  mcptest ui -- command args…      one server that is started on Connect; a kept test creates ./mcptest.yaml
  mcptest ui --cassette FILE       recorded traffic, also with one of the others`

func hasDefault() bool {
	return slices.ContainsFunc(option.DefaultSuites, func(name string) bool {
		_, err := os.Stat(name)
		return err == nil
	})
}

// useServer takes the server of the flags. Tests are written to a suite that is named, or to
// the default one.
func (in *inputs) useServer(own []string) error {
	f := in.flags
	paths := append(slices.Clone(f.Configs), own...)
	flags := f.TargetFlags
	flags.Configs = nil
	sv, err := flags.Resolve(in.streams, in.argv, in.redactor)
	if err != nil {
		return err
	}
	in.one, in.last = sv, []*plan.Server{sv}
	if len(paths) > 0 || hasDefault() {
		in.paths, err = f.Paths(own)
		return err
	}
	in.paths, in.creates = option.DefaultSuites[:1], true
	return nil
}

// Servers implements [live.Host].
func (in *inputs) Servers() (list []*plan.Server, problem string) {
	if in.one != nil || len(in.paths) == 0 {
		return in.last, ""
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	var said bytes.Buffer
	list = in.readStamped(&said)
	if said.Len() > 0 {
		return in.last, in.redactor.String(said.String())
	}
	in.last = list
	return list, ""
}

// readStamped reads the suites, and notes the stamp that their files had before: what is saved
// while they are read is a change. Which files they are is known only afterwards, so the
// suites are read again if they have other files. The caller holds the lock.
func (in *inputs) readStamped(said *bytes.Buffer) (list []*plan.Server) {
	if in.files == nil {
		in.files = in.paths
	}
	for range 3 { // more often only if imports change all the time
		said.Reset()
		in.stamp = stampOf(in.files)
		var files []string
		list, files = in.read(said)
		if slices.Equal(files, in.files) {
			break
		}
		in.files = files
	}
	return list
}

// read reads the suites, and writes their mistakes to said. No program is started.
func (in *inputs) read(said io.Writer) (list []*plan.Server, files []string) {
	p, files := in.compile(said, map[string]bool{}) // which selects no test
	if p == nil {
		return nil, files
	}
	for _, file := range p.Files {
		for _, sv := range file.Servers {
			if in.flags.Server == "" || sv.Name == in.flags.Server {
				list = append(list, sv)
			}
		}
	}
	if len(list) == 0 {
		_, _ = io.WriteString(said, "the suites declare no server"+makeName(in.flags.Server))
	}
	return list, files
}

// compile returns the plan of the suites with the tests of these names, nil for all, and the
// files that it was read from. The plan is nil if there are mistakes, which it writes to said.
func (in *inputs) compile(said io.Writer, names map[string]bool) (p *plan.Plan, files []string) {
	flags := in.copySuiteFlags()
	s := in.streams
	s.Err = io.Discard
	suites, diags, err := flags.Load(in.paths, s)
	if err != nil {
		_, _ = io.WriteString(said, err.Error())
		return nil, in.paths
	}
	files = slices.Clone(in.paths)
	for _, su := range suites {
		files = append(files, su.Files...)
	}
	set := flags.Settings(s)
	set.CI, set.Names = false, names
	p, more := plan.Compile(suites, set)
	for _, su := range suites { // also those of files of rows, which Compile reads
		in.redactor.Add(su.Secrets...)
	}
	if diags = append(diags, more...); diags.HasErrors() {
		_ = diags.Print(said, source.Style{})
		return nil, files
	}
	return p, files
}

// runArgs returns the command line that runs suites with the flags of this one.
func (in *inputs) runArgs(paths []string, more ...string) []string {
	argv := append([]string{in.streams.Self, "run"}, paths...)
	argv = append(argv, more...)
	argv = append(argv, "--color", "never", "--no-progress")
	for _, v := range in.flags.Vars {
		argv = append(argv, "--var", v)
	}
	for _, file := range in.flags.EnvFiles {
		argv = append(argv, "--env-file", file)
	}
	if in.flags.AllowOutside {
		argv = append(argv, "--allow-outside")
	}
	return argv
}

func makeName(server string) string {
	if server == "" {
		return ""
	}
	return " called " + server
}

// copySuiteFlags returns flags that read the suites without starting a program.
func (in *inputs) copySuiteFlags() option.SuiteFlags {
	f := in.flags
	return option.SuiteFlags{
		EnvFiles: f.EnvFiles, Vars: f.Vars, AllowOutside: f.AllowOutside, Color: "never", Static: true,
	}
}

// Options implements [live.Host].
func (in *inputs) Options(sv *plan.Server) inspect.Options {
	def := *sv
	def.Timeout = cmp.Or(def.Timeout, in.flags.Timeout)
	if in.flags.Protocol != mcp.Auto && def.Protocol == mcp.Auto {
		def.Protocol = in.flags.Protocol
	}
	if known, _ := option.KnownClient(in.flags.Client); known != nil { // an unknown one was refused
		def.Client = *known
	}
	o := in.shared.Options(&def)
	o.Dial = in.recorded(o.Dial)
	return o
}

// Diagnose implements [live.Host].
func (in *inputs) Diagnose(ctx context.Context, o inspect.Options, found func(live.Layer)) {
	o.Violations = nil
	doctor.Examine(ctx, doctor.Options{
		Conn: inspect.New(o), Connect: o.Connect,
		Found: func(l doctor.Layer) {
			found(live.Layer{
				Name: l.Name, State: string(l.State), Message: l.Message, Details: l.Details, Hint: l.Hint,
			})
		},
	})
}

// newUsage returns what selects a server of the page on the command line of `mcptest call`.
func (in *inputs) newUsage(hub *live.Hub) func(server int) string {
	return func(id int) string {
		s, err := hub.Server(id)
		if err != nil {
			return ""
		}
		flags := in.flags.TargetFlags
		if in.one == nil {
			def := s.View().Def
			flags.Server, flags.Configs = def.Name, []string{def.Pos.File.Name}
		}
		return flags.Usage(in.streams, in.argv)
	}
}

// lookTime is how often the files are looked at.
const lookTime = 400 * time.Millisecond

// watch calls changed, which reads the suites again, after one of their files was saved.
func (in *inputs) watch(ctx context.Context, changed func()) {
	tick := time.NewTicker(lookTime)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if in.isStale() {
				changed()
			}
		}
	}
}

// isStale reports whether a file has changed since the suites were read.
func (in *inputs) isStale() bool {
	in.mu.Lock()
	files, stamp := in.files, in.stamp
	in.mu.Unlock()
	return stampOf(files) != stamp
}

// stampOf returns a text that is another one when a file has changed.
func stampOf(files []string) string {
	var b strings.Builder
	for _, path := range files {
		fmt.Fprintf(&b, "%q", path)
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, " %d %d", info.ModTime().UnixNano(), info.Size())
		}
	}
	return b.String()
}

// getwd returns the current folder, or "." if it is not known.
func getwd() string {
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	return dir
}
