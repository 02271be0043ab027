package tape

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/source"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/offer/compat"
	"mcptest/internal/offer/opening"
	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/opener"
)

// openingFlags are the flags of `mcptest cassette opening`.
type openingFlags struct {
	output, client, reads string
	session               int
	force                 bool
}

func newOpeningCmd(s cmdutil.Streams) *cobra.Command {
	var f openingFlags
	cmd := &cobra.Command{
		Use:   "opening FILE… [-o RULES]",
		Short: "Write how a recorded client opens a connection",
		Long: `Write the first frames of a recorded client as an opening, a file that mcptest check --rules replays with other servers:
record the client with mcptest record while it connects. The opening ends where the work begins, such as at a call of a
tool. Members of frames with a masked secret are left out.

A recording of one server does not show how a client takes answers: --reads says it, with the name of the SDK that the
client is built with. Without it, the client is read as the known one of its name, or leniently. A client that asks first
which era a server speaks shows the frames of one era only; the opening is not judged with a server of the other one.
Give the cassettes of both, or of a client that probes with a process of its own, in the order of their recording.

Exit codes: 0 the opening was written, 2 invalid command line or cassette, no opening in it, or the file already exists.`,
		Example: `  mcptest record -o client.cassette.ndjson -- node server.js   # in the configuration of the client
  mcptest cassette opening client.cassette.ndjson --reads typescript-sdk-2 -o client.openings.yaml
  mcptest check --rules client.openings.yaml --only openings -- node other.js`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return f.run(s, args) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.output, "output", "o", "-", "`file` to write, or - for standard output")
	fl.StringVar(&f.client, "client", "", "`name` of the client (default: by the name that it gave itself)")
	fl.StringVar(&f.reads, "reads", "",
		"how the client takes answers: the `row` "+strings.Join(opening.Readings(), ", "))
	fl.IntVar(&f.session, "session", 0, "`number` of the recorded session, if several differ")
	fl.BoolVar(&f.force, "force", false, "overwrite an existing file")
	return cmd
}

func (f *openingFlags) run(s cmdutil.Streams, files []string) error {
	if f.reads != "" {
		if err := option.OneOf("--reads", []string{f.reads}, opening.Readings()); err != nil {
			return err
		}
	}
	if err := option.Free(f.output, f.force); err != nil {
		return err
	}
	if f.session != 0 && len(files) > 1 {
		return option.Invalid("--session requires one cassette")
	}
	var all []*cassette.Cassette
	for _, file := range files {
		if err := checkNotInput(file, f.output); err != nil {
			return err
		}
		c, err := open(s, file)
		if err != nil {
			return err
		}
		defer c.Close()
		all = append(all, c)
	}
	text, o, err := f.script(s, all)
	if err != nil {
		return err
	}
	if err := option.WriteFile(f.output, s.Out, text); err != nil {
		return err
	}
	note := func(format string, args ...any) {
		fmt.Fprintln(s.Err, "mcptest: "+term.Escape(fmt.Sprintf(format, args...)))
	}
	if o.Dropped > 0 {
		note("left out %s with a masked secret", display.Count(o.Dropped, "member"))
	}
	if !strings.Contains(o.Describe(), "tools/list") {
		note("the recorded client asked for no list of tools: the opening ends with the handshake")
	}
	switch {
	case o.Probe != nil && len(o.Modern) == 0:
		note("the recorded server does not speak 2026-07-28: the opening is not judged with one that does")
	case o.Probe != nil && len(o.Legacy) == 0:
		note("the recorded server speaks 2026-07-28: the opening is not judged with one that does not")
	}
	return nil
}

// script returns the file of an opening, which check accepts.
func (f *openingFlags) script(s cmdutil.Streams, all []*cassette.Cassette) ([]byte, *opener.Opening, error) {
	c := all[0]
	redactor := secret.NewRedactor()
	redactor.Add(secret.FindInEnviron(s.Env)...)
	for _, other := range all {
		if other.Transport != c.Transport {
			return nil, nil, option.Invalid(
				"%s and %s have different transports, which are different openings", c.File, other.File)
		}
		redactor.Add(secret.Arguments(other.Server.Command)...)
	}
	about := opener.Script{Client: f.client, Transport: opening.Stdio, Reads: f.reads, Seen: c.Recorded}
	switch {
	case c.Transport == cassette.HTTPSSE:
		return nil, nil, option.Invalid("%s has the transport HTTP+SSE, of which mcptest replays no openings", c.File)
	case c.Transport != cassette.Stdio:
		about.Transport = opening.HTTP
	}
	if c.Recorded.IsZero() {
		return nil, nil, option.Invalid("%s does not say when it was recorded, and an opening expires", c.File)
	}
	o, err := f.choose(all, redactor)
	if err != nil {
		return nil, nil, err
	}
	about.Source = "frames recorded by " + c.Program
	about = o.Resolve(about)
	if about.Client == "" {
		return nil, nil, option.Invalid(
			"the client of session %d does not say its name: add --client NAME", o.Session)
	}
	if o.Info.IsAbsent() {
		o.Info = jsonv.ObjectOf("name", about.Client)
	}
	text := o.FormatYAML(about)
	_, ds := compat.Rules{}.Load(&source.File{Name: c.File, Data: text})
	if ds.HasErrors() {
		return nil, nil, option.Invalid(
			"%s: session %d can't be replayed as an opening: %s", c.File, o.Session, ds[0].Msg)
	}
	return text, o, nil
}

// choose returns the opening of the chosen session, or the only one.
func (f *openingFlags) choose(cassettes []*cassette.Cassette, redactor *secret.Redactor) (*opener.Opening, error) {
	all, others, err := opener.Find(cassettes, redactor)
	if err != nil {
		return nil, option.Invalid("%v", err)
	}
	file := cassettes[0].File
	if len(all) == 0 {
		what := "it has no message of a client"
		if others > 0 {
			count := display.Count(others, "session")
			what = count + ", and none begins with initialize or server/discover"
		}
		return nil, option.Invalid("%s has no opening: %s", file, what)
	}
	var list []string
	same := true
	for i := range all {
		if all[i].Session == f.session {
			return &all[i], nil
		}
		list = append(list, fmt.Sprintf("%d (%s)", all[i].Session, all[i].Describe()))
		same = same && all[i].DescribeFrames() == all[0].DescribeFrames()
	}
	switch {
	case f.session != 0:
		return nil, option.Invalid(
			"--session: %d has no opening; those that have one: %s", f.session, strings.Join(list, "; "))
	case !same:
		return nil, option.Invalid("%s has sessions that open in different ways; choose one with --session: %s",
			file, display.Truncate(strings.Join(list, "; "), 1000))
	}
	return &all[0], nil
}
