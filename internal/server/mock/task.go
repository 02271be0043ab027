package mock

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/client/protocol"
	"mcptest/internal/server/manifest"
	"mcptest/internal/server/mcpserver"
)

// maxTasks bounds the tasks that are kept.
const maxTasks = 1000

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
	support *manifest.TaskSupport
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
func (ts *tasks) begin(support *manifest.TaskSupport, stop context.CancelFunc, tell func(*task)) *task {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	now := time.Now()
	gone := func(t *task) bool { return now.Sub(t.created) > t.support.TTL }
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
	return lists.First(ts.all, func(t *task) bool {
		return t.id == id && time.Since(t.created) <= t.support.TTL
	})
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
		reply = mcpserver.Failure(protocol.CodeInternal, "a task cannot respond with raw bytes")
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
	return lists.Map(qs, func(q mcpserver.Question) jsonv.Value { return t.answers[q.Key] }), nil
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
