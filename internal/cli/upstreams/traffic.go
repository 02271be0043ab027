package upstreams

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/source"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/option"
	"mcptest/internal/model"
	"mcptest/internal/report/result"
	"mcptest/internal/run"
	"mcptest/internal/run/agent"
	"mcptest/internal/run/doubles"
	"mcptest/internal/server/proxy"
	"mcptest/internal/server/recording"
	"mcptest/internal/server/upstream"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// Traffic is what is behind the doubles of one run.
type Traffic struct {
	flags *Flags
	// Alone: a response depends on the test that asks, so tests must not run at the
	// same time.
	Alone bool

	// By the absolute path of the recording:
	files  map[string]*recording.File
	owners map[string]string            // names of upstreams
	random map[string]map[string]string // the values of ${random.KEY}

	secrets *secret.Redactor
	whole   bool // all tests are selected

	purse   *model.Purse
	env     []string
	clients map[string]*model.Client   // by suite, model, test and attempt
	tapes   map[string]*recording.File // of models, by absolute path
	suites  map[string]*suite.Suite    // by the path of a model's recording and the test that uses it

	mu      sync.Mutex
	records map[string]*recording.Recorder // by absolute path
	seen    []result.Finding
}

// Open reads the recordings of suites. Mistakes in them are diagnostics.
func (f *Flags) Open(suites []*suite.Suite) (*Traffic, source.Diagnostics, error) {
	t := &Traffic{
		flags:   f,
		Alone:   f.Recording(),
		files:   map[string]*recording.File{},
		owners:  map[string]string{},
		random:  map[string]map[string]string{},
		records: map[string]*recording.Recorder{},
		clients: map[string]*model.Client{},
		tapes:   map[string]*recording.File{},
		suites:  map[string]*suite.Suite{},
		purse:   &model.Purse{Limit: f.maxCost},
		env:     os.Environ(),
	}
	var diags source.Diagnostics
	var names []string
	for _, s := range suites {
		for _, e := range s.Upstreams.Entries {
			names = append(names, e.Key)
			if e.Value != nil {
				diags = append(diags, t.open(s, e.Key, e.Value)...)
			}
		}
	}
	if err := f.checkUnknown(names); err != nil {
		return t, diags, err
	}
	return t, diags, f.checkCap(suites)
}

func (t *Traffic) open(s *suite.Suite, name string, u *upstream.Declaration) source.Diagnostics {
	path := source.PathKey("upstreams", name)
	if u.Recording == "" {
		if t.flags.find(name) == modeRecord {
			d := source.Errorf(u.Pos, path, "there is no file for the recording")
			d.Hint = "add recording: upstream/" + name + ".yaml"
			return source.Diagnostics{d}
		}
		return nil
	}
	abs := u.Recording
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(s.Dir, filepath.FromSlash(u.Recording))
	}
	if other, taken := t.owners[abs]; taken && other != name {
		d := source.Errorf(u.Pos, path+".recording", "%s is the recording of upstream %q", u.Recording, other)
		d.Hint = "give each upstream a recording of its own"
		return source.Diagnostics{d}
	}
	t.owners[abs], t.random[abs] = name, s.Random
	mode := t.flags.find(name)
	if mode != modeReplay && mode != modeRecord {
		return nil
	}
	if _, err := os.Stat(abs); err != nil {
		if mode == modeRecord {
			return nil
		}
		d := source.Errorf(u.Pos, path+".recording", "cannot read the recording %s: no such file", u.Recording)
		d.Hint = "write it with " + recording.Again(name) + ", or run with --upstream-mode off"
		return source.Diagnostics{d}
	}
	file, diags := recording.Read(abs, filepath.ToSlash(filepath.Join(filepath.Dir(s.File.Name), u.Recording)), name)
	if file == nil {
		return diags
	}
	if d, wrong := file.Of(u.StandsFor); wrong {
		return append(diags, d)
	}
	if mode == modeReplay {
		t.files[abs] = file
		t.Alone = t.Alone || file.ByTest()
	}
	return diags
}

// Connect makes a run of the plan use the upstreams. self is the program mcptest, whole
// says that all tests are selected.
func (t *Traffic) Connect(deps *run.Deps, p *plan.Plan, self string, whole bool) {
	t.secrets, t.whole = deps.Redactor, whole
	deps.Upstreams = doubles.Deps{
		Fallback: t.makeFallback,
		Network: func(of string, list []*upstream.Double, report func(result.Finding)) (doubles.Network, error) {
			return listenNetwork(self, of, list, report)
		},
	}
	deps.Models = &agent.Models{Client: t.newClient, Broken: t.noteBroken}
	others := deps.FinalFindings
	deps.FinalFindings = func() (list []result.Finding) {
		if others != nil {
			list = others()
		}
		var tests []string
		// Each test is built for its name, which takes longer than all the rest.
		for i := 0; whole && len(t.files) > 0 && i < p.Len(); i++ {
			tests = append(tests, p.Case(i).Name)
		}
		return append(list, t.listFindings(tests)...)
	}
}

func (t *Traffic) makeFallback(u *upstream.Upstream) upstream.Fallback {
	switch t.flags.find(u.Name) {
	case modeLive:
		return recording.Live(u.StandsFor, nil, func(f recording.Failure) { t.noteFailure(u, f) })
	case modeRecord:
		r := t.newRecorder(u)
		return recording.Live(u.StandsFor, r.Add, func(f recording.Failure) {
			r.Fail(f)
			t.noteFailure(u, f)
		})
	case modeReplay:
		if file := t.files[u.Recording]; file != nil {
			return file.Replay(u.StandsFor, t.secrets)
		}
	}
	return nil
}

func (t *Traffic) newRecorder(u *upstream.Upstream) *recording.Recorder {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.records[u.Recording]
	if r == nil {
		r = recording.NewRecorder(u.Name, u.StandsFor.String())
		t.records[u.Recording] = r
	}
	return r
}

// noteFailure notes a request that could not be passed on to the real API.
func (t *Traffic) noteFailure(u *upstream.Upstream, f recording.Failure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen = append(t.seen, result.Finding{
		Kind: "upstream-not-reached", Severity: "error", File: u.Pos.File.Name, Line: u.Pos.Line,
		Message: fmt.Sprintf("upstream %q: %s: %v", u.Name, f.Request, f.Err),
	})
}

// listFindings returns what went wrong with the real APIs and the recordings. tests are the
// names of all tests; nil if only some were selected.
func (t *Traffic) listFindings(tests []string) []result.Finding {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.seen
	for _, path := range slices.Sorted(maps.Keys(t.records)) {
		saved, err := t.records[path].Check(recording.Options{Path: path, Secrets: t.secrets})
		if err == nil && saved.Wrong {
			out = append(out, result.Finding{Kind: "recording-not-written", Severity: "error", File: option.Shown(path), Message: "the recording was not written: " + saved.Unsaved})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(t.files)) {
		for _, name := range t.files[path].Tests() {
			if tests != nil && !slices.Contains(tests, name) {
				out = append(out, result.Finding{
					Kind: "unused-recording", Severity: "warning", File: option.Shown(path),
					Message: fmt.Sprintf("the recording has exchanges of the test %q, which does not exist: if it was renamed, record again", name),
				})
			}
		}
	}
	return out
}

// Save writes the recordings, says on w what they hold, and returns the exit code of
// the run. code is the one before.
func (t *Traffic) Save(w io.Writer, code int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(t.records)) {
		saved, err := t.records[path].Save(recording.Options{
			Path:    path,
			Secrets: t.secrets,
			Random:  t.random[path],
			Keep:    !t.whole || code != option.ExitPassed,
			Failed:  code != option.ExitPassed,
		})
		if err != nil {
			fmt.Fprintln(w, "mcptest: "+term.Escape(fmt.Sprintf("cannot write the recording %s: %v", option.Shown(path), err)))
			code = option.ExitInternal
			continue
		}
		if saved.Wrong {
			code = cmp.Or(code, option.ExitFailed)
		}
		lines := strings.Split(saved.Note(option.Shown(path)), "\n")
		for i := range lines {
			lines[i] = term.Escape(lines[i])
		}
		fmt.Fprintln(w, "mcptest: "+strings.Join(lines, "\n"))
	}
	return code
}

// listenNetwork makes the network of a server.
func listenNetwork(self, of string, list []*upstream.Double, report func(result.Finding)) (doubles.Network, error) {
	o := proxy.Options{Hosts: map[string]proxy.Host{}, Ports: map[string]string{}}
	var others []string
	isolate := false
	for _, d := range list {
		isolate = isolate || d.Upstream.Isolate
		if d.Upstream.Proxy {
			host := strings.ToLower(d.Upstream.StandsFor.Hostname())
			o.Hosts[host], o.Ports[host] = d, d.Upstream.StandsFor.Port()
		} else {
			others = append(others, d.Host())
		}
	}
	o.Pass = func(addr string) bool { return slices.Contains(others, addr) }
	o.Report = func(p proxy.Problem) {
		f := result.Finding{Kind: p.Kind, Severity: "warning", Message: p.Message}
		if p.Kind == proxy.Undeclared {
			f.Severity = "error"
		}
		report(f)
	}
	p, err := proxy.Start(o)
	if err != nil {
		return doubles.Network{}, err
	}
	out := doubles.Network{Stop: p.Close}
	if len(o.Hosts) > 0 {
		out.Environ = p.Environ()
	}
	if !isolate || of == "" {
		return out, nil
	}
	i, err := p.Isolate(self, others)
	if err != nil {
		report(result.Finding{Kind: "network-not-isolated", Severity: "warning", Message: fmt.Sprintf("isolate: network has no effect for server %q, which can reach other networks: %s", of, err)})
		return out, nil
	}
	report(result.Finding{Kind: "network-isolated", Severity: "info", Message: fmt.Sprintf("server %q ran in a network namespace and could reach its upstreams only", of)})
	out.Change = i.Change
	out.Stop = func() {
		i.Close()
		p.Close()
	}
	return out, nil
}
