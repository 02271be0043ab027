package cassette

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/secret"
)

// MaxMessage is the maximum size in bytes of a message that is kept whole. Of a
// larger one the beginning and the size are written.
const MaxMessage = 256 << 20

// OmittedHead is the number of bytes kept of a message that is not written whole.
const OmittedHead = 4 << 10

// headerWait and headerBytes are the number of messages and the number of bytes that may
// wait for the protocol version, which is in the header.
const (
	headerWait  = 64
	headerBytes = 1 << 20
)

// Writer appends frames to a cassette. It is safe for concurrent use.
type Writer struct {
	redact *secret.Redactor
	start  time.Time

	mu       sync.Mutex
	path     string   // of the cassette
	f        *os.File // the partial file until Close
	header   Header
	begun    bool   // the header is written
	spoken   string // protocol version of a request that belongs to no session
	held     []byte
	waiting  int
	sessions int
	ids      map[string]string // the id of an HTTP session → its replacement
	failed   error
	buf      []byte

	frames, messages      int  // written so far
	answered, interrupted bool // answered: a message of the server was recorded
	unsaved               string
}

// Create creates a cassette. Until Close it has another name, with [PartialSuffix]. An
// existing cassette is replaced by Close, any other file is not. The header's version
// and masks are filled in. The error is [ErrBusy] while another process records to path.
func Create(path string, h Header, redact *secret.Redactor) (*Writer, error) {
	if err := CheckReplaceable(path); err != nil {
		return nil, err
	}
	f, err := openPartial(path)
	if err != nil {
		return nil, err
	}
	start := h.Recorded
	h.Version, h.Masks = Version, append([]string{MaskSecrets, MaskSessions}, h.Masks...)
	if start.IsZero() {
		start = time.Now()
		h.Recorded = start.UTC().Truncate(time.Second)
	}
	h.Server, h.Suites, h.Note = clean(h.Server, redact), redact.Lines(h.Suites), redact.Bytes(h.Note)
	return &Writer{redact: redact, start: start, path: path, f: f, header: h, ids: map[string]string{}}, nil
}

// CheckReplaceable returns the reason why the file at path must not be replaced by a
// cassette.
func CheckReplaceable(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &Error{File: path, Says: "not a regular file: a cassette cannot be written here"}
	case info.Size() > 0 && !isCassette(path):
		return &Error{File: path, Says: "the file is not a cassette and is not replaced"}
	}
	return nil
}

func clean(s Server, redact *secret.Redactor) Server {
	command := lists.Map(s.Command, redact.String)
	s.Command, s.URL = command, redact.String(s.URL)
	return s
}

// Start returns the start of the recording, from which the times of frames are
// measured.
func (w *Writer) Start() time.Time { return w.start }

// Session starts a session and returns its number.
func (w *Writer) Session() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sessions++
	return w.sessions
}

// Write masks a frame and appends it. Frames without a time get the current one.
// After an error nothing more is written; [Writer.Close] reports it again.
func (w *Writer) Write(f Frame) error {
	if f.At == 0 {
		f.At = time.Since(w.start)
	}
	return w.append(&f)
}

func (w *Writer) append(f *Frame) error {
	data := f.Data
	if len(data) > MaxMessage && f.Omitted == 0 {
		f.Omitted, f.Tail = int64(len(data)), TailOf(data)
	}
	if f.Omitted > 0 {
		data = data[:min(len(data), OmittedHead)]
	}
	w.learnCredentials(f.HTTP)
	if !f.Masked {
		data, f.Note = w.mask(data), w.mask(f.Note)
		if (f.Omitted > 0 || f.Unterminated) && len(data) > 0 {
			data = []byte(w.redact.Cut(string(data)))
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.Event != nil && f.Event.Type == "endpoint" {
		data = w.maskEndpoint(data)
	}
	if w.failed != nil {
		return w.failed
	}
	w.count(f)
	w.buf = appendLine(w.buf[:0], w.makeLine(f), data, f.Data != nil)
	if len(w.buf) > maxLine { // because of escapes in a text
		f.Omitted = int64(len(f.Data))
		w.buf = appendLine(w.buf[:0], w.makeLine(f), data[:min(len(data), OmittedHead)], true)
	}
	if cap(w.buf) > 4<<20 {
		defer func() { w.buf = nil }()
	}
	if w.begun {
		w.put(w.buf)
		return w.failed
	}
	w.held = append(w.held, w.buf...)
	if f.Dir != "" { // a server may log a lot before the handshake
		w.waiting++
	}
	if w.noteAgreed(f) || w.waiting >= headerWait || len(w.held) >= headerBytes {
		w.begin()
	}
	return w.failed
}

// count notes what the recording contains.
func (w *Writer) count(f *Frame) {
	w.frames++
	if f.Data != nil {
		w.messages++
		w.answered = w.answered || f.Dir == FromServer
	}
}

// learnCredentials masks the credentials in headers everywhere from then on.
func (w *Writer) learnCredentials(h *HTTP) {
	if h == nil {
		return
	}
	for name, values := range h.Header {
		for _, v := range values {
			w.redact.LearnHeader(name, v)
		}
	}
}

// mask replaces secrets. A secret that is recognized by the name of its member is
// masked everywhere from then on.
func (w *Writer) mask(data []byte) []byte {
	if len(data) == 0 {
		return data
	}
	var found secret.Found
	s := string(data)
	masked := w.redact.Collect(s, &found)
	if !found.Empty() {
		w.redact.Learn(found.All()...)
		masked = w.redact.String(masked)
	}
	if masked == s {
		return data
	}
	return []byte(masked)
}

// makeLine returns the written form of a frame, without its data.
func (w *Writer) makeLine(f *Frame) *line {
	ms := float64(f.At.Microseconds()) / 1000
	l := &line{
		Session: f.Session,
		At:      json.Number(strconv.FormatFloat(ms, 'f', -1, 64)),
		Dir:     f.Dir,
		Stream:  f.Stream,
		Stderr:  w.redact.Cut(f.Stderr),
		Omitted: f.Omitted,
		Tail:    f.Tail,
		Cut:     f.Unterminated,
		Event:   f.Event,
		Note:    f.Note,
	}
	if f.HTTP != nil {
		h := *f.HTTP
		h.Header = w.maskHeaders(h.Header)
		l.HTTP = &h
	}
	if f.Event != nil && f.Event.ID != "" {
		e := *f.Event
		e.ID = w.redact.String(e.ID)
		l.Event = &e
	}
	if f.End != nil {
		e := *f.End
		e.Reason, e.Stderr = w.redact.String(e.Reason), slices.Clone(w.redact.Lines(e.Stderr))
		if n := len(e.Stderr); n > 0 { // the process may have ended within a line
			e.Stderr[n-1] = w.redact.Cut(e.Stderr[n-1])
		}
		l.End = &e
	}
	return l
}

// maskHeaders masks the values of credentials and the ids of sessions.
func (w *Writer) maskHeaders(h map[string][]string) map[string][]string {
	out := make(map[string][]string, len(h))
	for k, values := range h {
		if k == "Date" { // changes with each recording and is never examined
			continue
		}
		for _, v := range values {
			switch {
			case k == "Mcp-Session-Id":
				v = w.maskSessionID(v)
			case secret.Name(k):
				v = secret.Mask
			default:
				v = w.redact.String(v)
			}
			out[k] = append(out[k], v)
		}
	}
	return out
}

// maskSessionID returns the replacement for the id of an HTTP session.
func (w *Writer) maskSessionID(id string) string {
	if id == "" {
		return id
	}
	if _, ok := w.ids[id]; !ok {
		w.ids[id] = fmt.Sprintf("session-%d", len(w.ids)+1)
	}
	return w.ids[id]
}

// maskEndpoint masks the id of a session in the address that an HTTP+SSE server sends.
func (w *Writer) maskEndpoint(data []byte) []byte {
	u, err := url.Parse(string(data))
	if err != nil || u.RawQuery == "" {
		return data
	}
	q := u.Query()
	for _, values := range q {
		for i, v := range values {
			if v != secret.Mask {
				values[i] = w.maskSessionID(v)
			}
		}
	}
	u.RawQuery = q.Encode()
	return []byte(u.String())
}

// begin writes the header and the waiting frames.
func (w *Writer) begin() {
	w.begun = true
	b, err := json.Marshal(w.header)
	if err != nil {
		w.failed = err
		return
	}
	w.put(append(append(b, '\n'), w.held...))
	w.held = nil
}

// put appends to the file in one piece, so that a crash leaves whole lines.
func (w *Writer) put(b []byte) {
	if w.failed == nil {
		_, w.failed = w.f.Write(b)
	}
}

// Close writes the remaining data and gives the file its name; see [Writer.ExplainUnsaved]. If
// writing failed, the file keeps its partial name.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == errClosed {
		return errClosed
	}
	if !w.begun {
		w.begin()
	}
	if w.failed != nil {
		return errors.Join(fmt.Errorf("%w; the beginning is in %s", w.failed, w.f.Name()), w.f.Close())
	}
	err := w.finish()
	w.failed = errClosed
	return err
}

// Copy writes what was recorded so far to a new file: a cassette that ends there. The recording
// goes on meanwhile.
func (w *Writer) Copy(path string) error {
	begin, size, err := w.readSoFar()
	if err != nil {
		return err
	}
	from, err := os.Open(w.f.Name())
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = to.Write(begin)
	if err == nil {
		_, err = io.CopyN(to, from, size)
	}
	return errors.Join(err, to.Close())
}

// readSoFar returns the text that waits for the protocol version, with its header, and how many bytes of
// the file are whole lines.
func (w *Writer) readSoFar() (begin []byte, size int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return nil, 0, w.failed
	}
	if w.begun {
		info, err := w.f.Stat()
		if err != nil {
			return nil, 0, err
		}
		return nil, info.Size(), nil
	}
	begin, err = json.Marshal(w.header)
	return append(append(begin, '\n'), w.held...), 0, err
}

// errClosed is returned by a write after Close.
var errClosed = errors.New("the cassette is closed")

// appendLine appends a line with its data, which is embedded byte for byte if it is
// JSON on one line.
func appendLine(dst []byte, l *line, data []byte, has bool) []byte {
	b, _ := json.Marshal(l) // strings and numbers only
	dst = append(dst, b...)
	if has {
		dst = append(dst[:len(dst)-1], ',')
		switch {
		case isOneLineJSON(data):
			dst = append(append(dst, `"message":`...), data...)
		case utf8.Valid(data):
			dst = append(dst, `"text":`...)
			dst = jsonv.AppendString(dst, string(data))
		default:
			dst = append(dst, `"bytes":"`...)
			dst = append(base64.StdEncoding.AppendEncode(dst, data), '"')
		}
		dst = append(dst, '}')
	}
	return append(dst, '\n')
}

// isOneLineJSON reports whether data can be embedded unchanged as a member of a line.
func isOneLineJSON(data []byte) bool {
	if len(data) == 0 || data[0] != '{' && data[0] != '[' {
		return false
	}
	return !bytes.ContainsAny(data, "\r\n") && utf8.Valid(data) && jsonv.Valid(data) == nil
}
