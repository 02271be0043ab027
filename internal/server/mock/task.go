package mock

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/client/protocol"
	"mcptest/internal/server/mcpserver"
)

// taskSupport describes how a tool responds with a task: instead of a result it returns
// the id of a task, which the client polls until it is done.
type taskSupport struct {
	required  bool // the tool always responds with a task
	ttl, poll time.Duration
}

const (
	taskTTL  = 5 * time.Minute
	taskPoll = 100 * time.Millisecond
	// maxTasks bounds the tasks that are kept.
	maxTasks = 1000
)

// decodeTask decodes `task: optional`, or a map with more settings.
func decodeTask(n *source.Node, path string, d *source.Decoder) *taskSupport {
	var m struct {
		// optional: clients that know tasks get one, others wait; required: no one else is served.
		Support string `yaml:"support" enum:"optional|required"`
		// How long the task is kept.
		TTL time.Duration `yaml:"ttl"`
		// How often clients should ask for it.
		Poll time.Duration `yaml:"poll"`
	}
	m.TTL, m.Poll = taskTTL, taskPoll
	switch {
	case n.Kind != source.KindString:
		d.Decode(n, path, &m)
	case n.Text != "optional" && n.Text != "required":
		d.Errorf(n, path, "expected optional, required or a map, got %q", n.Text)
	default:
		m.Support = n.Text
	}
	if m.TTL < time.Millisecond || m.Poll < time.Millisecond {
		d.Errorf(n, path, "ttl and poll are at least 1ms")
	}
	return &taskSupport{required: m.Support == "required", ttl: m.TTL, poll: m.Poll}
}

// Statuses of a task.
const (
	working   = "working"
	needInput = "input_required"
	completed = "completed"
	failed    = "failed"
	cancelled = "cancelled"
)

// task is one call whose result comes later.
type task struct {
	id      string
	support *taskSupport
	created time.Time
	stop    context.CancelFunc
	tell    func(t *task) // notifies the client that the status changed

	telling sync.Mutex // keeps notifications in order; locked before mu
	mu      sync.Mutex
	status  string
	updated time.Time
	reply   *mcpserver.Reply // of the tool, once it is done
	open    []mcpserver.Question
	answers map[string]jsonv.Value
	changed chan struct{} // closed and replaced at every change
}

// tasks are the tasks of a server, oldest first.
type tasks struct {
	mu   sync.Mutex
	last int
	all  []*task
}

// begin creates a task. It drops expired tasks, and the oldest one when there are too
// many.
func (ts *tasks) begin(support *taskSupport, stop context.CancelFunc, tell func(*task)) *task {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	now := time.Now()
	gone := func(t *task) bool { return now.Sub(t.created) > t.support.ttl }
	if len(ts.all) >= maxTasks {
		ts.all[0].stop()
		ts.all = slices.Delete(ts.all, 0, 1)
	}
	ts.all = slices.DeleteFunc(ts.all, gone)
	ts.last++
	t := &task{
		id: fmt.Sprintf("task-%d", ts.last), support: support, created: now, updated: now, stop: stop, tell: tell,
		status: working, answers: map[string]jsonv.Value{}, changed: make(chan struct{}),
	}
	ts.all = append(ts.all, t)
	return t
}

// find returns the task with that id, or nil.
func (ts *tasks) find(id string) *task {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, t := range ts.all {
		if t.id == id && time.Since(t.created) <= t.support.ttl {
			return t
		}
	}
	return nil
}

func (ts *tasks) list() []*task {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return slices.Clone(ts.all)
}

// change changes the task unless it is over, wakes the waiters, and notifies the
// client of a new status.
func (t *task) change(fn func()) bool {
	t.telling.Lock()
	defer t.telling.Unlock()
	t.mu.Lock()
	if t.over() {
		t.mu.Unlock()
		return false
	}
	before := t.status
	fn()
	t.updated = time.Now()
	close(t.changed)
	t.changed = make(chan struct{})
	news := t.status != before
	t.mu.Unlock()
	if news {
		t.tell(t)
	}
	return true
}

// over reports whether the task has reached a final status. The caller holds mu.
func (t *task) over() bool {
	return t.status == completed || t.status == failed || t.status == cancelled
}

// finish stores the reply of the tool. Without a reply the task never ends.
func (t *task) finish(reply *mcpserver.Reply) {
	if reply == nil {
		return
	}
	if reply.Raw != nil {
		reply = failure(protocol.CodeInternal, "a task cannot respond with raw bytes")
	}
	t.change(func() {
		t.reply, t.open, t.status = reply, nil, completed
		if reply.Error != nil {
			t.status = failed
		}
	})
}

// cancel ends the task and reports whether it was still running.
func (t *task) cancel() bool {
	t.stop()
	return t.change(func() { t.status, t.open = cancelled, nil })
}

// ask sends questions to the client and waits until all of them are answered.
func (t *task) ask(ctx context.Context, qs []mcpserver.Question) ([]jsonv.Value, error) {
	t.change(func() { t.status, t.open = needInput, qs })
	for {
		t.mu.Lock()
		changed, left := t.changed, len(t.open)
		t.mu.Unlock()
		if left == 0 {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]jsonv.Value, len(qs))
	for i, q := range qs {
		out[i] = t.answers[q.Key]
	}
	return out, nil
}

// answer accepts answers to open questions; others are ignored. The task continues
// when no question is open.
func (t *task) answer(given jsonv.Value) {
	t.change(func() {
		t.open = slices.DeleteFunc(slices.Clone(t.open), func(q mcpserver.Question) bool {
			v, ok := given.Get(q.Key)
			if ok {
				t.answers[q.Key] = v
			}
			return ok
		})
		if len(t.open) == 0 {
			t.status = working
		}
	})
}

// pending waits until the task is over or has questions, and returns the questions.
func (t *task) pending(ctx context.Context) ([]mcpserver.Question, error) {
	for {
		t.mu.Lock()
		changed, open, over := t.changed, t.open, t.over()
		t.mu.Unlock()
		if over || len(open) > 0 {
			return open, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, errStop
		}
	}
}
