package mcp_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"mcptest/internal/mcp"
)

// Calls per second against a bare net/http client that posts the same bodies
// to the same server. The aim is a ratio of 1.25 at most.
func BenchmarkHTTP(b *testing.B) {
	for _, kind := range []string{"json", "sse"} {
		srv := web(b, func(w http.ResponseWriter, r *http.Request, m rpc) {
			if kind == "sse" {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, event(result(string(m.ID), `{"content":[{"type":"text","text":"hello"}]}`)))
				return
			}
			answerJSON(w, m.ID, `{"content":[{"type":"text","text":"hello"}]}`)
		})
		params := []byte(`{"name":"echo","arguments":{"text":"hello"}}`)
		b.Run(kind, func(b *testing.B) {
			c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}
			defer c.CloseIdleConnections()
			bare := func(i int) {
				body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, i+1, params)
				req, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, srv.URL, bytes.NewReader(body))
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Accept", "application/json, text/event-stream")
				req.Header.Set("Mcp-Session-Id", "s-1") // what the protocol wants of every client
				req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
				resp, err := c.Do(req)
				if err != nil {
					b.Fatal(err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			s := mustOpen(b, srv.URL)
			ours := func(int) {
				if x := s.Do(context.Background(), mcp.Call{Method: "tools/call", Params: params}); x.Cause != nil {
					b.Fatal(x.Cause)
				}
			}
			// Alternating rounds, so that both meet the same load of the machine.
			var ratios []float64
			timed := func(f func(int)) float64 {
				start := time.Now()
				for i := range 100 {
					f(i)
				}
				return float64(time.Since(start))
			}
			timed(bare)
			timed(ours)
			for b.Loop() {
				ratios = append(ratios, timed(ours)/timed(bare))
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "ratio")
		})
	}
}
