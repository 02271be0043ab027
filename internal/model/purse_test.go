package model

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// endpoint answers after a second, and counts the requests, also those at once.
type endpoint struct {
	mu                   sync.Mutex
	sent, flying, atMost int
	usage                string
}

func (e *endpoint) RoundTrip(req *http.Request) (*http.Response, error) {
	e.mu.Lock()
	e.sent, e.flying = e.sent+1, e.flying+1
	e.atMost = max(e.atMost, e.flying)
	e.mu.Unlock()
	time.Sleep(time.Second)
	e.mu.Lock()
	e.flying--
	e.mu.Unlock()
	body := `{"choices": [{"message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}], "usage": ` + e.usage + `}`
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

// As many requests are sent at once as one after the other: the one that reaches the limit
// is the last one. Far from the limit they are sent at the same time.
func TestPurseIsExactWithRequestsAtOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		for limit, want := range map[float64]int{0.0001: 1, 0.00011: 1, 0.00012: 2, 0.00054: 5, 0.00056: 6, 0.0109: 100, 1: 160} {
			synctest.Test(t, func(t *testing.T) {
				e := &endpoint{usage: `{"prompt_tokens": 100, "completion_tokens": 10}`}
				purse := &Purse{Limit: limit}
				c := New(Options{URL: "http://model.test", Model: "m", HTTP: &http.Client{Transport: e}, Purse: purse, AnswerTokens: 500, Cost: func(in, out int) float64 { return float64(in+out) / 1e6 }})
				var wg sync.WaitGroup
				answered := make([]int, workers)
				for w := range workers {
					wg.Go(func() {
						for range 160 / workers {
							switch _, err := c.Answer(t.Context(), "", []Message{{Role: "user", Text: "hello"}}, nil); {
							case err == nil:
								answered[w]++
							case !errors.Is(err, ErrSpent):
								t.Error(err)
							}
						}
					})
				}
				wg.Wait()
				if e.sent != want {
					t.Errorf("%d workers, limit %v: %d requests were sent, want %d", workers, limit, e.sent, want)
				}
				if limit == 1 && e.atMost != workers {
					t.Errorf("%d workers: at most %d requests at once", workers, e.atMost)
				}
				if limit < 0.0005 && e.atMost != 1 {
					t.Errorf("limit %v: %d requests at once, and the first could have reached it", limit, e.atMost)
				}
			})
		}
	}
}

// Requests that failed cost nothing, and one that waits for them is sent then.
func TestPurseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Purse{Limit: 1}
		if !p.take(2) {
			t.Fatal("a full purse is empty")
		}
		sent := false
		go func() { sent = p.take(2) }()
		synctest.Wait()
		if sent {
			t.Error("sent, and the one before could have reached the limit")
		}
		p.settle(2, 0)
		synctest.Wait()
		if !sent {
			t.Error("not sent")
		}
		p.settle(2, 1)
		if p.take(0) {
			t.Error("sent, and the limit is reached")
		}
	})
}
