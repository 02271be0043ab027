package aql_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/mcpaql/demo"
	"mcptest/internal/mcpaql/live"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/server/mcpserver"
)

var markedName = regexp.MustCompile(`"(id|name|title)":"[^"]*zz_conf_[^"]*"`)

// markedIn lists the marked names in a library's file.
func markedIn(t *testing.T, state string) []string {
	t.Helper()
	data, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	return markedName.FindAllString(string(data), -1)
}

// itemsIn is what a library's file holds, without what runs created, of which
// it returns the number.
func itemsIn(t *testing.T, state string) (items map[string][]map[string]any, marked int) {
	t.Helper()
	data, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Items map[string][]map[string]any `json:"items"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for name, list := range file.Items {
		file.Items[name] = slices.DeleteFunc(list, func(item map[string]any) bool {
			text, _ := json.Marshal(item)
			ours := bytes.Contains(text, []byte(catalog.MakeMarker("")))
			if ours {
				marked++
			}
			return ours
		})
		if len(file.Items[name]) == 0 {
			delete(file.Items, name)
		}
	}
	return file.Items, marked
}

// A create that is still at work when the run ends, or when its call is given
// up, is found all the same.
func TestLateCreatesAreRemoved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		timeout time.Duration
		ends    bool
	}{
		"the run is ended meanwhile": {5 * time.Second, true},
		"the call is given up":       {100 * time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := t.TempDir() + "/library.json"
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				var creates atomic.Int64
				dial := dialer(t, func(string) mcpserver.Handler {
					return spoiled(t, demo.Options{State: state}, func(_ int, req *mcpserver.Request, answer func() *mcpserver.Reply) *mcpserver.Reply {
						if bytes.Contains(req.Params, []byte(`"create_book"`)) && creates.Add(1) == 2 {
							if c.ends {
								cancel()
							}
							<-time.After(400 * time.Millisecond)
							return answer()
						}
						return nil
					})
				})
				e, err := live.Collect(ctx, guard.Options{Spread: time.Millisecond, Dial: dial, Mode: guard.ModeWrite, CallTimeout: c.timeout})
				if err != nil {
					t.Fatal(err)
				}
				if creates.Load() < 2 {
					t.Fatal("nothing was created: the test proves nothing")
				}
				if left := markedIn(t, state); len(left) > 0 {
					t.Errorf("left: %v, cleaned %s", left, e.Live.Lookup("cleanup"))
				}
			})
		})
	}
}
