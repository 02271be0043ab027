package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcptest/internal/base/filekind"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/source"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/offer/compat"
	"mcptest/internal/offer/surface"
	"mcptest/internal/process/bundle"
	"mcptest/internal/run/inspect"
)

// readLists reads the lists of a file, or requests those of servers.
func (f *checkFlags) readLists(
	cmd *cobra.Command, s cmdutil.Streams, own, argv []string, rules compat.Rules,
) (lists []compat.List, err error) {
	switch {
	case len(own) == 1 && (len(argv) > 0 || f.target.URL != "" || f.target.Server != ""):
		return nil, option.Invalid("expected either a file or a server, got both")
	case len(own) == 0 && slices.Contains(f.groups, compat.GroupResults):
		return nil, option.Invalid("--only results: results are judged in a record or a cassette, because no tool is called")
	case len(own) == 1 && f.onlyOpenings():
		return nil, option.Invalid("--only openings: openings are replayed with a server, and %s is a file", own[0])
	case len(own) == 1:
		if lists, err = f.readFile(s, own[0], rules); err != nil {
			return nil, err
		}
		if err := f.packet.refuseSeveral(listNames(lists)); err != nil {
			return nil, err
		}
		f.judgeStored(lists, rules)
	default:
		if lists, err = f.listServers(cmd, s, argv, rules); err != nil {
			return nil, err
		}
	}
	if len(lists) == 0 && f.unreached != nil && len(f.openings) == 0 {
		return nil, f.unreached
	}
	if f.unreached == nil && f.examinesNothing(lists) {
		return nil, option.Invalid("--only bundles: no bundle (.mcpb) was checked")
	}
	if f.name != "" && slices.ContainsFunc(lists, func(l compat.List) bool { return l.Server != lists[0].Server }) {
		return nil, option.Invalid("--name requires one server, got several")
	}
	for i := range lists {
		lists[i].Installed = f.name
		lists[i].Server = cmp.Or(f.name, lists[i].Server)
		if lists[i].File != "" {
			lists[i].File = option.Shown(lists[i].File)
		}
	}
	return lists, nil
}

// listNames returns the servers of lists.
func listNames(all []compat.List) (names []string) {
	for _, list := range all {
		names = append(names, list.Server)
	}
	return names
}

// listServers requests the lists of the chosen servers.
func (f *checkFlags) listServers(
	cmd *cobra.Command, s cmdutil.Streams, argv []string, rules compat.Rules,
) (lists []compat.List, err error) {
	servers, err := f.target.Names(s, argv, true)
	if err == nil {
		err = f.packet.refuseSeveral(servers)
	}
	if err != nil {
		return nil, err
	}
	for _, name := range servers {
		some, err := f.listServer(cmd, s, name, argv, rules)
		lists = append(lists, some...)
		var failed *option.ExitError
		if err != nil && (len(servers) == 1 || !errors.As(err, &failed) || failed.Code != option.ExitFailed) {
			return nil, err
		}
		if err != nil { // the other servers are checked
			reportError(s, name, failed)
			f.unreached = &option.ExitError{Code: option.ExitFailed}
		}
	}
	return lists, nil
}

// readFile reads the lists of a file, or the bundle that it is, and judges the results in it.
func (f *checkFlags) readFile(s cmdutil.Streams, path string, rules compat.Rules) (lists []compat.List, err error) {
	if bundle.IsFile([]string{path}) {
		return f.readBundle(s, path)
	}
	wanted := []filekind.Kind{filekind.Tools, filekind.Lock, filekind.Record, filekind.Cassette}
	if err := option.RefuseOther("", path, wanted...); err != nil {
		return nil, err
	}
	err = withFile(s.In, path, func(file string) error {
		if err := f.judgeResults(file, path, rules); err != nil || f.onlyResults() {
			return err
		}
		lists, err = readSurfaces(file, path)
		return err
	})
	if err != nil && cmdutil.FindStarter(path) != "" && !errors.Is(err, fs.ErrNotExist) {
		hint := source.Parenthesis("to check the server that it starts: mcptest check " + cmdutil.QuoteServer(path))
		err = fmt.Errorf("%w%s", err, hint)
	}
	if err != nil {
		return nil, explainSurface(s, f.target.Color, err)
	}
	return lists, nil
}

// maxPiped bounds what is read of a pipe: as much as a large cassette has.
const maxPiped = 1 << 30

// withFile uses a file that may be read more than once: a copy of what is read of a pipe or,
// for -, of standard input. Errors name the original.
func withFile(stdin io.Reader, path string, use func(file string) error) error {
	name := filepath.Base(path)
	st, err := os.Stat(path)
	switch {
	case path == "-":
		name = "standard input"
	case err != nil || st.Mode().IsRegular() || st.IsDir():
		return use(path)
	default:
		pipe, err := os.Open(path)
		if err != nil {
			return err
		}
		defer pipe.Close()
		stdin = pipe
	}
	dir, err := os.MkdirTemp("", "mcptest-check-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	copied, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(copied, io.LimitReader(stdin, maxPiped+1))
	if err = errors.Join(err, copied.Close()); err != nil {
		return err
	}
	if n > maxPiped {
		return fmt.Errorf("%s: more than %d bytes", name, maxPiped)
	}
	if err := use(copied.Name()); err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""))
	}
	return nil
}

// readSurfaces reads the lists of a file or folder. What came through a pipe has no file that a
// report could name.
func readSurfaces(file, path string) ([]compat.List, error) {
	lists, err := readFiles(file)
	for i := range lists {
		if file != path {
			lists[i].File = ""
		}
	}
	return lists, err
}

func readFiles(file string) (lists []compat.List, err error) {
	mask := secret.NewRedactor().String
	all, err := surface.Read(file, nil)
	if err != nil {
		return nil, err
	}
	masked, err := surface.Read(file, mask)
	if err != nil {
		return nil, err
	}
	for i, one := range all {
		list := listOf(one)
		list.Masked, list.Mask = toolsOf(masked[i]), mask
		lists = append(lists, list)
	}
	return lists, nil
}

// listServer requests the lists of a server, once for each client name.
func (f *checkFlags) listServer(
	cmd *cobra.Command, s cmdutil.Streams, name string, argv []string, rules compat.Rules,
) (lists []compat.List, err error) {
	if f.onlyOpenings() {
		return nil, f.openServer(cmd, s, name, argv, rules)
	}
	clients, replayed := f.chooseClients(rules), false
	for _, client := range slices.Sorted(maps.Keys(clients)) {
		target := f.target
		target.Server = name
		began := time.Now()
		err := target.With(cmd, s, argv, func(ctx context.Context, l *option.Viewer) error {
			startup := time.Since(began)
			list, err := f.fetch(ctx, l)
			list.Profiles = clients[client]
			if err != nil {
				return err
			}
			lists = append(lists, list)
			if replayed {
				return nil
			}
			replayed = true
			return f.goFurther(ctx, l, rules, list, startup)
		}, f.hearStray, func(o *inspect.Options) {
			if o.Server.Client.Name == "" && client != "" { // otherwise the user says who it is
				o.Client.Name = client
			}
		})
		if err != nil {
			return lists, err
		}
	}
	return lists, nil
}

// goFurther examines what needs further sessions, after that of the viewer.
func (f *checkFlags) goFurther(
	ctx context.Context, l *option.Viewer, rules compat.Rules, list compat.List, startup time.Duration,
) error {
	shown := makeListing(l.Conn, list)
	if f.packet != nil {
		f.packet.addServer(ctx, l, f.target.Timeout)
	}
	if len(rules.Openings) > 0 {
		f.replay(ctx, l, rules, startup)
	}
	if len(rules.Apps) > 0 && ctx.Err() == nil {
		f.judgeApps(ctx, l, list, shown)
	}
	return f.explainInterrupt(ctx, l)
}

// chooseClients returns the client names to connect with, and the profiles of each: "" and
// nil unless --for names clients.
func (f *checkFlags) chooseClients(rules compat.Rules) map[string][]string {
	if len(f.profiles) == 0 || slices.Contains(f.profiles, "all") {
		return map[string][]string{"": nil}
	}
	out := map[string][]string{}
	chosen := rules.Families(f.profiles)
	for _, p := range rules.Profiles {
		if slices.Contains(chosen, p.Name) {
			out[p.Client] = append(out[p.Client], p.Name)
		}
	}
	if len(out) == 0 { // clients whose openings only are known
		return map[string][]string{"": nil}
	}
	return out
}

// fetch requests the lists of a server. Tools must be listed; another list that can't
// be read is a warning.
func (f *checkFlags) fetch(ctx context.Context, l *option.Viewer) (compat.List, error) {
	l.Conn.ReportRemaining()
	packed := f.describeBundle(l)
	offer, err := l.Conn.Survey(ctx)
	if err != nil {
		return compat.List{}, l.Failed(ctx, "", err)
	}
	lists := offer.Lists
	announces := l.Conn.SelfAnnouncing(ctx)
	for _, kind := range surface.Lists() {
		if err := offer.Failed[kind.Kind]; err != nil && kind.Kind != surface.Tool {
			fmt.Fprintf(l.Streams.Err, "warning: %s: not checked\n", l.Text(err.Error()))
		}
	}
	if _, listed := lists[surface.Tool]; !listed { // refused, or not declared
		if lists[surface.Tool], err = listAll(ctx, l, "tools/list", "tools"); err != nil {
			return compat.List{}, err
		}
	}
	list := listOf(surface.New("", offer.Handshake, lists, nil, nil))
	list.Handshake, list.Announces = offer.Handshake, announces
	list.Tools, list.Pages = lists[surface.Tool], offer.Pages // in the order of the server
	list.Masked = toolsOf(surface.New("", jsonv.Value{}, lists, l.Redactor.String, nil))
	list.Mask, list.Bundle = l.Redactor.String, packed
	list.Server = l.Conn.Implementation().Lookup("name").Text()
	list.File, list.Line = "", 0
	if l.Flags.Server != "" {
		list.Server, list.File, list.Line = l.Server.Name, l.Server.Pos.File.Name, l.Server.Pos.Line
		list.Base, _, _ = strings.Cut(list.Server, "@")
	}
	return list, nil
}

// listOf returns the definitions of a surface.
func listOf(s *surface.Surface) compat.List {
	l := compat.List{
		Server: s.Server,
		Tools:  []jsonv.Value{},
		Pages:  s.Pages,
		File:   filepath.ToSlash(s.Source),
		Line:   1,
		Lines:  map[string]int{},
	}
	l.Base, _, _ = strings.Cut(s.Server, "@")
	for _, item := range s.Items {
		def := item.Raw
		if def.IsAbsent() {
			def = item.Def
		}
		if item.Kind == surface.Tool {
			l.Tools = append(l.Tools, def)
			l.Lines[item.Name] = item.Line
			continue
		}
		if item.Kind == surface.Resource {
			l.Resources = append(l.Resources, def)
		}
		l.Others = append(l.Others, compat.Definition{Subject: item.Kind.Noun() + " " + item.Name, Def: def})
	}
	l.Others = append(l.Others, compat.Instructions(s.Info)...)
	for _, c := range s.Calls {
		l.Results = append(l.Results, compat.Result{Tool: c.Tool, Value: c.Result})
	}
	return l
}

// toolsOf returns the tools of a surface in canonical form.
func toolsOf(s *surface.Surface) []jsonv.Value {
	tools := []jsonv.Value{} // not nil, even if there are none
	for _, item := range s.Items {
		if item.Kind == surface.Tool {
			tools = append(tools, item.Def)
		}
	}
	return tools
}

// readLock adds the tools of the lock file to the lists.
func (f *checkFlags) readLock(s cmdutil.Streams, lists []compat.List) error {
	if err := option.RefuseOther("--lock", f.lock, filekind.Lock, filekind.Tools); err != nil {
		return err
	}
	locked, err := surface.Read(f.lock, nil)
	if err != nil {
		return explainSurface(s, f.target.Color, err)
	}
	for i := range lists {
		j := slices.IndexFunc(locked, func(o *surface.Surface) bool {
			return o.Server == lists[i].Server || len(locked) == 1 && o.Server == ""
		})
		if j < 0 {
			return option.Invalid("--lock: %s holds no lock of the server %q; --name gives the name under which it is locked", f.lock, lists[i].Server)
		}
		lists[i].Locked = toolsOf(locked[j])
	}
	return nil
}
