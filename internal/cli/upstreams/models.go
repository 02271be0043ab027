package upstreams

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/base/web"
	"mcptest/internal/cli/option"
	"mcptest/internal/model"
	"mcptest/internal/run/agent"
	"mcptest/internal/server/recording"
	"mcptest/internal/server/upstream"
	spec "mcptest/internal/spec/agent"
	"mcptest/internal/spec/suite"
	"mcptest/internal/spec/suite/dotenv"
)

// checkModels rejects wrong flags of models, and recording in CI.
func (f *Flags) checkModels(env []string, allowInCI bool) error {
	if f.modelMode != "" && !slices.Contains(modes, f.modelMode) {
		return option.Invalid("--model-mode must be %s, %s, %s or %s, not %q", modeLive, modeRecord, modeReplay, modeOff, f.modelMode)
	}
	if f.modelMode == modeRecord {
		return option.AllowUpdate(env, allowInCI, "models are not recorded", recording.ModelAgain)
	}
	return nil
}

// checkCap returns an error if the cost of a model that may be asked is not known.
func (f *Flags) checkCap(suites []*suite.Suite) error {
	if f.maxCost == 0 {
		return nil
	}
	for _, s := range suites {
		for _, e := range s.Models.Entries {
			if e.Value != nil && e.Value.Price == nil && (len(f.Models) == 0 || slices.Contains(f.Models, e.Key)) {
				return option.Invalid("--max-cost: the model %q has no price", e.Key)
			}
		}
	}
	return nil
}

// newClient returns the client of a model for an attempt of a test of a suite.
func (t *Traffic) newClient(s *suite.Suite, name, test string, attempt int) (*model.Client, error) {
	m, _ := s.Models.Get(name)
	key := fmt.Sprintf("%s\x00%s\x00%s\x00%d", s.File.Path, name, test, attempt)
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.clients[key]; c != nil {
		return c, nil
	}
	if t.flags.modelMode == modeOff {
		return nil, agent.ErrSkipped
	}
	tape := &tape{
		name:    name,
		test:    test,
		label:   fmt.Sprintf("%s (trial %d)", test, attempt),
		attempt: attempt,
		stable:  func(text string) string { return m.Stable(text, s.Dir) },
	}
	o := model.Options{
		API:          m.API,
		URL:          m.URL,
		Model:        m.Model,
		Temperature:  m.Temperature,
		AnswerTokens: m.MaxTokens,
		MaxCalls:     1 << 30,
		MaxTokens:    1 << 40,
		Cost:         m.Price.Cost,
		HTTP:         &http.Client{Transport: tape},
	}
	if t.flags.maxCost > 0 {
		o.Purse = t.purse
	}
	var missing error
	if m.KeyEnv != "" {
		if o.Key, _ = dotenv.NewEnviron(t.env, s.DotEnv).Get(m.KeyEnv); o.Key == "" {
			missing = fmt.Errorf("the environment variable %s, the key of the model %s, is not set", m.KeyEnv, name)
		} else {
			t.secrets.Add(o.Key)
		}
	}
	if err := t.connect(tape, s, m, missing); err != nil {
		return nil, err
	}
	c := model.New(o)
	t.clients[key] = c
	return c, nil
}

// findRecording returns the path of the recording of a model, "" if it has none.
func findRecording(s *suite.Suite, m *spec.Model) string {
	if m.Recording == "" || filepath.IsAbs(m.Recording) {
		return m.Recording
	}
	return filepath.Join(s.Dir, filepath.FromSlash(m.Recording))
}

// noteBroken notes that a conversation of a test ended with an error.
func (t *Traffic) noteBroken(s *suite.Suite, name, test string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m, _ := s.Models.Get(name); m != nil && t.records[findRecording(s, m)] != nil {
		t.records[findRecording(s, m)].Break(test)
	}
}

// connect chooses what answers: the endpoint, the endpoint and a recorder, or the
// recording, which needs no key.
func (t *Traffic) connect(tape *tape, s *suite.Suite, m *spec.Model, missing error) error {
	path := findRecording(s, m)
	mode := cmp.Or(t.flags.modelMode, modeReplay)
	if t.flags.modelMode == "" && path == "" {
		mode = modeLive
	}
	switch {
	case mode != modeLive && path == "":
		return fmt.Errorf("the model %s has no recording: add recording: models/%s.yaml to it", tape.name, tape.name)
	case mode != modeLive && t.suites[path+"\x00"+tape.test] == nil:
		t.suites[path+"\x00"+tape.test] = s
	}
	other := t.suites[path+"\x00"+tape.test]
	switch {
	case mode != modeLive && other.File.Path != s.File.Path:
		names := []string{other.File.Name, s.File.Name}
		slices.Sort(names)
		return fmt.Errorf("the tests %q of %s and %s would have the same answers in %s: rename one, or give one suite another recording", tape.test, names[0], names[1], option.Shown(path))
	case mode == modeReplay:
		return t.replay(tape, path)
	case missing != nil:
		return missing
	}
	tape.live = web.NewForwarding()
	if mode == modeRecord {
		if t.records[path] == nil {
			if _, err := os.Stat(path); err == nil {
				if _, diags := recording.Read(path, option.Shown(path), tape.name); diags.HasErrors() {
					return fmt.Errorf("the recording of the model %s cannot be used, and is not replaced: %s", tape.name, diags[0].Msg)
				}
			}
			u, _ := url.Parse(m.URL) // checked by CheckModels
			t.records[path] = recording.NewRecorder(tape.name, u.Scheme+"://"+u.Host)
		}
		tape.recorder = t.records[path]
		tape.recorder.Trial(tape.test, tape.attempt)
	}
	return nil
}

// replay makes a recording answer.
func (t *Traffic) replay(tape *tape, path string) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("there is no recording of the model %s at %s: write it with %s", tape.name, option.Shown(path), recording.ModelAgain)
	}
	file := t.tapes[path]
	if file == nil {
		var diags source.Diagnostics
		if file, diags = recording.Read(path, option.Shown(path), tape.name); diags.HasErrors() || file == nil {
			return fmt.Errorf("the recording of the model %s cannot be used: %s", tape.name, diags[0].Msg)
		}
		t.tapes[path] = file
	}
	tape.held, tape.player = file.Trials[tape.test], file.Player(tape.label, t.secrets.With())
	return nil
}

// tape is the connection to a model: the endpoint, which may be recorded, or a
// recording, which sends nothing.
type tape struct {
	name, test, label string // label is that of the attempt in a recording
	attempt           int    // of the test, from 1
	stable            func(text string) string
	live              http.RoundTripper
	recorder          *recording.Recorder
	player            *recording.Player
	held              int // attempts of the test in the recording
}

// replyRecorded returns what a recording answers.
func (t *tape) replyRecorded(req *http.Request, q *upstream.Request) (*http.Response, error) {
	why := fmt.Sprintf("it holds %s of this test", display.Count(t.held, "trial"))
	if t.attempt <= t.held {
		if res, ok := t.player.Lookup(q); ok {
			return makeResponse(req, res.Status, res.Header, res.Body), nil
		}
		why = model.Difference(t.player.Bodies(q))
		if why == "" {
			why = "all recorded answers to it were given"
		}
	}
	return nil, &model.FinalError{Err: &agent.StaleError{Model: t.name, Why: why, Again: recording.ModelAgain}}
}

// RoundTrip implements http.RoundTripper.
func (t *tape) RoundTrip(req *http.Request) (*http.Response, error) {
	sent, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	q := &upstream.Request{
		Upstream: t.name,
		Method:   req.Method,
		Path:     "/" + filepath.Base(req.URL.Path),
		Header:   req.Header.Clone(),
		Body:     sent,
	}
	if body, err := jsonv.Parse(sent); err == nil {
		q.Body = []byte(model.WithResults(body, t.stable).String())
	}
	if t.player != nil {
		return t.replyRecorded(req, q)
	}
	req.Body = io.NopCloser(bytes.NewReader(sent))
	res, err := t.live.RoundTrip(req)
	if err != nil || t.recorder == nil || res.StatusCode != http.StatusOK && res.StatusCode != http.StatusBadRequest {
		return res, err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(io.LimitReader(res.Body, upstream.MaxBody))
	if err != nil {
		return nil, errors.New("the answer broke off")
	}
	t.recorder.Add(t.label, q, &upstream.Response{
		Status: res.StatusCode,
		Header: http.Header{"Content-Type": res.Header["Content-Type"]},
		Body:   got,
	})
	return makeResponse(req, res.StatusCode, res.Header, got), nil
}

func makeResponse(req *http.Request, status int, h http.Header, body []byte) *http.Response {
	return &http.Response{
		StatusCode: status, Status: strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status))), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h.Clone(), Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: req,
	}
}
