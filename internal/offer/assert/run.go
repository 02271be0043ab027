package assert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/offer/diff"
	"mcptest/internal/offer/surface"
)

// Env is the data of a check in addition to the surface.
type Env struct {
	Server string // its name in the suite
	Dir    string // of the suite
	// Shown is the suite's folder as shown in messages and commands.
	Shown string
	Usage string // the arguments by which a command reaches the server, with a leading space
	Mask  func(string) string
	// Others are the surfaces over other transports or protocol versions, or of another server.
	Others []Other
}

// Other is the surface of a server over another transport or protocol version, or of another
// server.
type Other struct {
	Way    string // over 2025-06-18, on gateway
	Over   string // 2025-06-18, gateway
	Server bool   // another server, whose own name does not count
	Offer  jsonv.Value
}

// Verdict is the outcome of a check.
type Verdict struct {
	Problem string   // "" if it passed
	Lines   []string // the changes
	Notes   []string // changes that do not fail
	// Undecided says that the problem prevents a comparison: the negation of the check does
	// not hold either.
	Undecided bool
}

// Run evaluates the check for the surface of a server.
func (c *Check) Run(ctx context.Context, offer jsonv.Value, env Env) Verdict {
	live := makeSurface(offer, env)
	switch {
	case c.Lock != nil:
		return c.Lock.run(ctx, live, env)
	case c.Tokens != nil:
		return c.Tokens.run(live, env)
	}
	return checkSame(ctx, live, env)
}

func makeSurface(offer jsonv.Value, env Env) *surface.Surface {
	lists := map[surface.Kind][]jsonv.Value{}
	for _, l := range surface.Lists() {
		lists[l.Kind] = offer.Lookup(l.Member).List()
	}
	if skills := offer.Lookup("skills"); skills.Kind() != jsonv.KindNull {
		lists[surface.Skill] = skills.List()
	}
	return surface.New(env.Server, offer.Lookup("server"), lists, env.Mask, nil)
}

func (l *Lock) run(ctx context.Context, live *surface.Surface, env Env) Verdict {
	locked, shown, problem := readLock(l.File, live, env)
	if problem != "" {
		return Verdict{Problem: problem, Undecided: true}
	}
	both := [2][]*surface.Surface{{locked}, {live}}
	if slices.Contains(live.Unknown, surface.Skill) && len(diff.NotCompared(both[0], both[1])) > 0 {
		return Verdict{Problem: "the skills of the server could not be read", Undecided: true}
	}
	changes := diff.Compare(ctx, both[0], both[1], diff.Options{Target: env.Usage})
	bad := slices.ContainsFunc(changes, func(ch diff.Change) bool { return diff.Fails(ch.Class, l.FailOn) })
	accept := "; to accept: " + formatCommand(l.File, env)
	switch {
	case bad:
		return Verdict{Problem: "it differs from " + shown + ": " + diff.Summary(changes) + accept, Lines: formatLines(changes)}
	case len(live.Warnings) > 0:
		return Verdict{Problem: strings.Join(live.Warnings, "; "), Undecided: true}
	case len(changes) > 0:
		return Verdict{Notes: []string{"it differs from " + shown + ": " + diff.Summary(changes) + accept}}
	}
	return Verdict{}
}

// LockFile returns the lock file that is read for a server; "" for none.
func (c *Check) LockFile(dir, server string) string {
	switch {
	case c.Lock != nil:
		return lockPath(c.Lock.File, dir, server)
	case c.Tokens != nil && c.Tokens.Lock != "":
		return lockPath(c.Tokens.Lock, dir, server)
	}
	return ""
}

func lockPath(file, dir, server string) string {
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if strings.HasSuffix(file, "/") {
		path += "/"
	}
	return surface.LockPath(path, server)
}

// readLock reads the lock file of a server.
func readLock(file string, live *surface.Surface, env Env) (locked *surface.Surface, shown, problem string) {
	path := lockPath(file, env.Dir, live.Server)
	shown = path
	if below, err := filepath.Rel(env.Dir, path); err == nil {
		shown = filepath.ToSlash(filepath.Join(env.Shown, below))
	}
	list, err := surface.Read(path, nil)
	ds, ok := errors.AsType[source.Diagnostics](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, shown, fmt.Sprintf("no lock of the server %q in %s: run %s and commit the file", live.Server, shown, formatCommand(file, env))
	case ok && len(ds) > 0:
		d := ds[0]
		problem := strings.TrimPrefix(d.Path+": "+d.Msg, ": ")
		return nil, shown, fmt.Sprintf("%s:%d:%d: %s; to write it again: %s",
			shown, d.Pos.Line, d.Pos.Col, problem, formatCommand(file, env))
	case err != nil:
		return nil, shown, shown + " can't be read: " + err.Error()
	case len(list) != 1 || list[0].Server != live.Server:
		return nil, shown, fmt.Sprintf("%s is the lock of the server %q, not of %q: a folder (with / at its end) has one file per server", shown, list[0].Server, live.Server)
	}
	return list[0], shown, ""
}

// formatCommand returns the command that writes a lock file.
func formatCommand(file string, env Env) string {
	out := file
	if !filepath.IsAbs(out) {
		out = filepath.ToSlash(filepath.Join(env.Shown, file))
		if strings.HasSuffix(file, "/") {
			out += "/"
		}
	}
	return "mcptest lock" + env.Usage + " --output " + display.Escape(out)
}

// formatLines returns changes in the form of mcptest diff.
func formatLines(changes []diff.Change) []string {
	var b strings.Builder
	_ = diff.Write(&b, "text", changes, "") // a strings.Builder does not fail
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}

func (t *Tokens) run(live *surface.Surface, env Env) Verdict {
	total, tools := live.ToolTokens()
	problems := t.findTooLarge(total, tools)
	if t.Growth != "" {
		locked, shown, problem := readLock(t.Lock, live, env)
		if problem != "" {
			return Verdict{Problem: problem, Undecided: true}
		}
		before, _ := locked.ToolTokens()
		if float64(total) > float64(before)*(1+t.growth/100) {
			problems = append(problems, fmt.Sprintf("the tools take %d tokens, more than %s above the %d of %s",
				total, t.Growth, before, shown))
		}
	}
	if len(problems) > 0 {
		return Verdict{
			Problem: strings.Join(problems, "; ") + " (" + surface.TokenCount + ")",
			Lines:   formatLargest(tools),
		}
	}
	if len(tools) == 0 {
		return Verdict{Notes: []string{"the server lists no tools: there was nothing to count"}}
	}
	return Verdict{}
}

// findTooLarge returns what takes more tokens than the check allows.
func (t *Tokens) findTooLarge(total int, tools []surface.Item) (problems []string) {
	if t.Total != nil && total > *t.Total {
		problems = append(problems, fmt.Sprintf("%s take %d tokens, more than %d", display.Count(len(tools), "tool"), total, *t.Total))
	}
	for _, tool := range tools {
		n := surface.Tokens(tool.Def)
		if t.Tool != nil && n > *t.Tool {
			problems = append(problems, fmt.Sprintf("tool %s takes %d tokens, more than %d", display.Escape(tool.Name), n, *t.Tool))
		}
	}
	return problems
}

// formatLargest returns the tools that take most, the largest first.
func formatLargest(tools []surface.Item) (lines []string) {
	for _, tool := range tools[:min(len(tools), 10)] {
		lines = append(lines, fmt.Sprintf("%6d  %s", surface.Tokens(tool.Def), display.Escape(tool.Name)))
	}
	return lines
}

// checkSame compares the surface of a server with its surfaces over other connections.
func checkSame(ctx context.Context, live *surface.Surface, env Env) Verdict {
	var v Verdict
	for _, o := range env.Others {
		one, other := *live, *makeSurface(o.Offer, env)
		if o.Server {
			one.Info, other.Info = one.Info.Without("serverInfo"), other.Info.Without("serverInfo")
		}
		changes := diff.Compare(ctx, []*surface.Surface{&one}, []*surface.Surface{&other}, diff.Options{})
		if len(changes) == 0 {
			continue
		}
		if v.Problem != "" {
			v.Problem += "; "
		}
		v.Problem += "it differs " + o.Way + ": " + diff.Summary(changes)
		v.Lines = append(append(v.Lines, o.Way+":"), formatLines(changes)...)
	}
	switch {
	case len(env.Others) == 0:
		v.Problem, v.Undecided = "nothing to compare with", true
	case v.Problem == "" && len(live.Items) == 0:
		v.Notes = []string{"the server lists nothing, and so does what it was compared with"}
	}
	return v
}

func parsePercent(s string) (float64, error) { return strconv.ParseFloat(strings.TrimSpace(s), 64) }
