package result

import (
	"cmp"
	"fmt"
	"sync"

	"mcptest/internal/base/secret"
)

// Recorder adds events to a record. Send is safe for concurrent use; the calls are
// serialized.
type Recorder struct {
	mu        sync.Mutex
	cleaner   cleaner // for each event a copy
	run       *Run
	listeners []Listener
	err       error
}

// RecorderOptions configure a Recorder. The zero value is valid.
type RecorderOptions struct {
	Redactor  *secret.Redactor // nil: secret.NewRedactor()
	Spool     *Spool           // nil: NewSpool("")
	Listeners []Listener
}

// Limits of the bytes of a text in the record. Frames are redacted first and then
// shortened at a rune boundary, and the exchange is marked as truncated.
const (
	passFrame = 2 << 10   // request, response or message of a passed case
	failFrame = 256 << 10 // those of other cases
	otherText = 64 << 10
)

// NewRecorder returns a recorder with an empty record.
func NewRecorder(o RecorderOptions) *Recorder {
	if o.Redactor == nil {
		o.Redactor = secret.NewRedactor()
	}
	if o.Spool == nil {
		o.Spool = NewSpool("")
	}
	return &Recorder{
		cleaner:   cleaner{secrets: o.Redactor, keys: map[string]secret.KeyLines{}},
		run:       &Run{Schema: Schema, Cases: o.Spool},
		listeners: o.Listeners,
	}
}

// Send redacts and shortens an event in place, applies it to the record, stores it,
// and calls the listeners in the order of RecorderOptions. The recorder takes
// ownership of the event, including a *Case in it.
func (r *Recorder) Send(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e = r.cleaner.clean(e)
	switch e := e.(type) {
	case CaseFinished:
		if err := r.run.Cases.Put(e.Case); err != nil {
			r.err = cmp.Or(r.err, fmt.Errorf("record an event: %w", err)) // a second case with the same index: the first one is kept
			return
		}
	case RunFinished:
		if err := r.run.Cases.Err(); err != nil {
			r.apply(r.cleaner.clean(Noted{"the results were kept in memory: " + err.Error()}))
		}
	}
	r.apply(e)
}

func (r *Recorder) apply(e Event) {
	r.run.Apply(e)
	for _, l := range r.listeners {
		l.Event(e, r.run)
	}
}

// Run returns the record. It is complete after RunFinished was sent; before that,
// only a listener may read it.
func (r *Recorder) Run() *Run { return r.run }

// Redactor returns the redactor. Secrets may be added to it at any time.
func (r *Recorder) Redactor() *secret.Redactor { return r.cleaner.secrets }

// Err returns the first error in the events, or nil.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Close releases the stored cases. The record must not be read afterwards.
func (r *Recorder) Close() error { return r.run.Cases.Close() }
