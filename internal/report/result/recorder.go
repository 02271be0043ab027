package result

import (
	"cmp"
	"fmt"
	"math"
	"sync"

	"mcptest/internal/base/secret"
)

// Recorder adds events to a record. Send is safe for concurrent use; the calls are
// serialized.
type Recorder struct {
	mu        sync.Mutex
	redactor  *secret.Redactor
	limits    Limits
	spool     *Spool
	run       *Run
	listeners []Listener
	keys      map[string]secret.KeyLines // see cleaner
	err       error
}

// RecorderOptions configure a Recorder. The zero value is valid.
type RecorderOptions struct {
	Redactor  *secret.Redactor // nil: secret.NewRedactor()
	Spool     *Spool           // nil: NewSpool("")
	Limits    Limits           // zero fields: the defaults
	Listeners []Listener
}

// Limits limit the bytes of a frame in the record. Frames are redacted first and then
// shortened at a rune boundary, and the exchange is marked as truncated. Zero means
// the default, a negative number no limit.
type Limits struct {
	PassFrame int // request, response or message of a passed case; default 2 KiB
	FailFrame int // those of other cases; default 256 KiB
	Text      int // any other text; default 64 KiB
}

// NewRecorder returns a recorder with an empty record.
func NewRecorder(o RecorderOptions) *Recorder {
	o.Redactor, o.Spool = cmp.Or(o.Redactor, secret.NewRedactor()), cmp.Or(o.Spool, NewSpool(""))
	return &Recorder{
		redactor:  o.Redactor,
		limits:    o.Limits.withDefaults(),
		spool:     o.Spool,
		run:       &Run{Schema: Schema, Cases: o.Spool},
		listeners: o.Listeners,
		keys:      map[string]secret.KeyLines{},
	}
}

func (r *Recorder) clean(e Event) Event {
	return cleaner{secrets: r.redactor, limits: r.limits, keys: r.keys}.clean(e)
}

// Send redacts and shortens an event in place, applies it to the record, stores it,
// and calls the listeners in the order of RecorderOptions. The recorder takes
// ownership of the event, including a *Case in it.
func (r *Recorder) Send(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e = r.clean(e)
	switch e := e.(type) {
	case CaseFinished:
		if err := r.spool.Put(e.Case); err != nil {
			r.err = cmp.Or(r.err, fmt.Errorf("record an event: %w", err)) // a second case with the same index: the first one is kept
			return
		}
	case RunFinished:
		if err := r.spool.Err(); err != nil {
			r.apply(r.clean(Noted{"the results were kept in memory: " + err.Error()}))
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
func (r *Recorder) Redactor() *secret.Redactor { return r.redactor }

// Err returns the first error in the events, or nil.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Close releases the stored cases. The record must not be read afterwards.
func (r *Recorder) Close() error { return r.spool.Close() }

func (l Limits) withDefaults() Limits {
	set := func(p *int, n int) {
		switch {
		case *p == 0:
			*p = n
		case *p < 0:
			*p = math.MaxInt
		}
	}
	set(&l.PassFrame, 2<<10)
	set(&l.FailFrame, 256<<10)
	set(&l.Text, 64<<10)
	return l
}
