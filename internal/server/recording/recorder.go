package recording

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/base/display"
	"mcptest/internal/base/osfile"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/source"
	"mcptest/internal/server/upstream"
)

// Recorder collects exchanges in memory until Save. It is safe for concurrent
// use.
type Recorder struct {
	upstream, standsFor string

	mu     sync.Mutex
	list   []raw
	size   int
	err    error
	trials Trials
	broken map[string]bool // tests with a conversation that ended with an error
	// failures are the requests without a complete response.
	failures []Failure
}

// raw is an exchange as it was received.
type raw struct {
	test     string
	request  upstream.Request
	response upstream.Response
}

// maxRecording is the number of bytes of bodies that a recorder keeps.
const maxRecording = 64 << 20

// NewRecorder returns a recorder for an upstream that replaces the API at an address.
func NewRecorder(name, standsFor string) *Recorder {
	return &Recorder{upstream: name, standsFor: standsFor, trials: Trials{}, broken: map[string]bool{}}
}

// Add records an exchange of a test; "" if it cannot be attributed to a test.
func (r *Recorder) Add(test string, req *upstream.Request, res *upstream.Response) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.size += len(req.Body) + len(res.Body)
	if r.size > maxRecording {
		r.err = cmp.Or(r.err, fmt.Errorf("more than %d MiB of requests and responses: record fewer tests", maxRecording>>20))
		return
	}
	r.list = append(r.list, raw{test, *req, *res})
}

// Trial notes that an attempt of a test uses the recorder, which is that of a model.
func (r *Recorder) Trial(test string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trials[test] = max(r.trials[test], n)
}

// Break notes that a conversation of a test ended with an error: its earlier answers stay.
func (r *Recorder) Break(test string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken[test] = true
}

// Fail records a request that has no complete response.
func (r *Recorder) Fail(f Failure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, f)
}

// Saved describes the result of Save.
type Saved struct {
	Exchanges int
	Kept      int            // exchanges of an earlier recording whose requests this run did not make
	Masked    map[string]int // number of replaced values, by mask
	Left      []string       // exchanges that were not recorded, with the reason
	Binary    []string       // bodies that are not text: no secrets can be recognized in them
	Texts     int            // bodies without named values: only patterns are recognized in them
	// Unsaved is the reason why the file was not written; "" if it was.
	Unsaved string
	// Wrong reports that Unsaved is a failure of the run.
	Wrong bool
}

// Options configure how a recording is saved.
type Options struct {
	Path    string
	Secrets *secret.Redactor
	Random  map[string]string
	// Keep keeps exchanges of the existing file that were not recorded again, because
	// not all tests ran.
	Keep bool
	// Failed: the run failed, so that failures of the API are not what the tests expect.
	Failed bool
}

// Check returns what Save would do, without doing it.
func (r *Recorder) Check(o Options) (Saved, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, saved, err := r.prepare(o)
	return saved, err
}

// Save sanitizes the recorded exchanges and replaces the file.
func (r *Recorder) Save(o Options) (Saved, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	data, saved, err := r.prepare(o)
	if err != nil || saved.Unsaved != "" {
		return saved, err
	}
	had, err := os.ReadFile(o.Path)
	if err == nil && bytes.Equal(bytes.ReplaceAll(had, []byte("\r\n"), []byte("\n")), data) {
		return saved, nil
	}
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o777); err != nil {
		return saved, err
	}
	path := o.Path
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if path, err = filepath.EvalSymlinks(path); err != nil { // which must stay a link
			return saved, err
		}
	}
	return saved, osfile.Replace(path, data, 0o666)
}

// prepare returns the content of the file.
func (r *Recorder) prepare(o Options) ([]byte, Saved, error) {
	if r.err != nil {
		return nil, Saved{}, r.err
	}
	var old *File
	if _, err := os.Stat(o.Path); err == nil {
		var diags source.Diagnostics
		if old, diags = Read(o.Path, o.Path, r.upstream); diags.HasErrors() {
			return nil, Saved{}, fmt.Errorf("the existing file is not replaced: %s", diags[0].Msg)
		}
	}
	list, saved := r.clean(o.Secrets)
	for _, f := range r.failures {
		if f.Partial {
			saved.Left = append(saved.Left, f.Request+": "+f.Err.Error())
			o.Keep = true // the earlier exchanges
		}
	}
	trials := maps.Clone(r.trials)
	o.Keep = o.Keep || trials.areOfModel() // other suites may share the recording of a model
	for _, test := range sortKeys(r.broken) {
		if old != nil && old.Trials[test] > 0 {
			delete(trials, test)
			list = slices.DeleteFunc(list, func(e exchange) bool { return testOf(e.test) == test })
			saved.Left = append(saved.Left, fmt.Sprintf("test %q: a conversation ended with an error; its earlier answers stay", test))
		}
	}
	saved.Unsaved, saved.Wrong = r.explainUnsaved(list, old, o)
	if saved.Unsaved != "" {
		return nil, saved, nil
	}
	out := File{
		Upstream:  r.upstream,
		standsFor: r.standsFor,
		Random:    o.Random,
		Trials:    trials,
		masks:     sortKeys(saved.Masked),
		list:      arrange(list, r.trials.areOfModel()),
	}
	if o.Keep && old != nil {
		saved.Kept = out.merge(old)
	}
	saved.Exchanges = len(out.list)
	data := out.encode()
	if len(data) > source.MaxSize {
		return nil, saved, fmt.Errorf("it would have %d bytes, more than %d: record fewer tests", len(data), source.MaxSize)
	}
	return data, saved, nil
}

// clean sanitizes the recorded exchanges.
func (r *Recorder) clean(secrets *secret.Redactor) ([]exchange, Saved) {
	first := newSanitizer(secrets)
	for _, x := range r.list {
		_, _ = first.clean(x) // reported by the second pass
	}
	s := first.withLearned()
	saved := Saved{Masked: s.masked}
	var list []exchange
	for _, x := range r.list {
		e, err := s.clean(x)
		if err != nil {
			saved.Left = append(saved.Left, fmt.Sprintf("%s %s: %s", e.method, e.path, err))
			continue
		}
		if e.response.form == base64Body {
			saved.Binary = append(saved.Binary, fmt.Sprintf("%s (%d bytes)", e.describe(), len(e.response.text)))
		}
		for _, b := range []body{e.request, e.response} {
			if b.form == textBody && strings.TrimSpace(b.text) != "" {
				saved.Texts++
			}
		}
		list = append(list, e)
	}
	return list, saved
}

// explainUnsaved returns the reason why the file is not written, and whether that is a
// failure.
func (r *Recorder) explainUnsaved(list []exchange, old *File, o Options) (why string, wrong bool) {
	failed := 0
	for _, f := range r.failures {
		if !f.Partial {
			failed++
		}
	}
	switch {
	case failed > 0:
		return display.Count(failed, "request") + " could not be passed on to the API", true
	case len(list) == 0 && (old == nil || old.Len() > 0 && !o.Keep):
		return "no exchange was recorded", false
	}
	if refused := listNewlyRefused(list, old); len(refused) > 0 {
		return fmt.Sprintf("the API refused %s with 401 or 403 that it accepted before, such as %s: renew the credentials, or delete the file to record anew",
			display.Count(len(refused), "request"), refused[0]), true
	}
	e := findNewlyFailing(list, old)
	if o.Failed && e != nil {
		return fmt.Sprintf("the run failed, and the API responded with %d to a request that it answered before, %s: try again, or delete the file to record anew", e.status, e.describe()), false
	}
	return "", false
}

// listNewlyRefused returns the requests that succeeded in an earlier recording, for the
// same test, and are now only refused.
func listNewlyRefused(list []exchange, old *File) (titles []string) {
	if old == nil {
		return nil
	}
	type request struct{ key, test string }
	succeeds := map[request]bool{}
	for i := range list {
		e := &list[i]
		r := request{e.joinKeys(), e.test}
		succeeds[r] = succeeds[r] || !e.isRefused()
	}
	for i := range list {
		e := &list[i]
		r := request{e.joinKeys(), e.test}
		before := old.byKey[r.key]
		if succeeds[r] || len(before) == 0 {
			continue
		}
		succeeds[r] = true // list it once
		failed := func(i int) bool {
			return old.list[i].status/100 != 2
		}
		if !slices.ContainsFunc(old.selectTest(before, e.test), failed) {
			titles = append(titles, e.describe())
		}
	}
	return titles
}

// findNewlyFailing returns an exchange that failed, and did not in an earlier recording for
// the same test, nor when it was repeated.
func findNewlyFailing(list []exchange, old *File) *exchange {
	for i := range list {
		e := &list[i]
		if old == nil || !e.hasFailed() || len(old.byKey[e.joinKeys()]) == 0 {
			continue
		}
		repeats := func(o exchange) bool {
			return !o.hasFailed() && o.test == e.test && o.joinKeys() == e.joinKeys()
		}
		if slices.ContainsFunc(list[i+1:], repeats) {
			continue
		}
		failed := func(i int) bool {
			return old.list[i].hasFailed()
		}
		if !slices.ContainsFunc(old.selectTest(old.byKey[e.joinKeys()], e.test), failed) {
			return e
		}
	}
	return nil
}

// hasFailed reports whether the API, not the request, is the cause of an error.
func (e *exchange) hasFailed() bool { return e.status >= 500 || e.status == http.StatusTooManyRequests }

func (e *exchange) isRefused() bool {
	return e.status == http.StatusUnauthorized || e.status == http.StatusForbidden
}

// Note describes the kept and masked data, for the file called name.
func (s Saved) Note(name string) string {
	var b strings.Builder
	if s.Unsaved != "" {
		fmt.Fprintf(&b, "recording %s was not written: %s; an existing file was not changed", name, s.Unsaved)
		s.list(&b)
		return b.String()
	}
	fmt.Fprintf(&b, "recording %s: %s", name, display.Count(s.Exchanges, "exchange"))
	if s.Kept > 0 {
		fmt.Fprintf(&b, ", %d of them from an earlier recording", s.Kept)
	}
	total := 0
	var parts []string
	for _, mask := range slices.Sorted(maps.Keys(s.Masked)) {
		total += s.Masked[mask]
		parts = append(parts, fmt.Sprintf("%s %d", mask, s.Masked[mask]))
	}
	if total > 0 {
		fmt.Fprintf(&b, "; %s masked (%s)", display.Count(total, "value"), strings.Join(parts, ", "))
	} else {
		b.WriteString("; nothing was masked")
	}
	if s.Texts > 0 {
		fmt.Fprintf(&b, "; in paths and %s of text (such as HTML, XML and YAML), secrets were only recognized by patterns", display.Count(s.Texts, "body"))
	}
	s.list(&b)
	return b.String()
}

// list adds the lines about single exchanges.
func (s Saved) list(b *strings.Builder) {
	for _, left := range s.Left {
		b.WriteString("\n  not recorded: " + left)
	}
	for _, body := range s.Binary {
		b.WriteString("\n  binary, so only declared secrets were looked for: " + body)
	}
}
