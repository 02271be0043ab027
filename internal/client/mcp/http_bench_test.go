package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
)

// floorHTTP answers every POST with almost no work, at /json or /sse, until its
// input ends. Its address is its first line of output.
func floorHTTP() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Println("http://" + l.Addr().String())
	go func() {
		_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var m rpc
			if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			text := `{"content":[{"type":"text","text":"hello"}]}`
			switch m.Method {
			case "initialize":
				w.Header().Set("Mcp-Session-Id", "s-1")
				text = helloResult
			case "notifications/initialized":
				w.WriteHeader(http.StatusAccepted)
				return
			}
			if r.URL.Path == "/sse" {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, event(result(string(m.ID), text)))
				return
			}
			answerJSON(w, m.ID, text)
		}))
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// Calls per second against a bare net/http client that posts the same bodies
// to the same server, which is a process of its own. The aim is a ratio of 1.25
// at most.
func BenchmarkHTTP(b *testing.B) {
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), serverEnv+"=http")
	stdin, err := server.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = stdin.Close()
		_ = server.Wait()
	}()
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	for _, kind := range []string{"json", "sse"} {
		b.Run(kind, func(b *testing.B) { benchHTTP(b, strings.TrimSpace(address)+"/"+kind) })
	}
}

func benchHTTP(b *testing.B, url string) {
	params := []byte(`{"name":"echo","arguments":{"text":"hello"}}`)
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}
	defer c.CloseIdleConnections()
	bare := func(i int) {
		body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, i+1, params)
		req, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, url, bytes.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Mcp-Session-Id", "s-1") // what the protocol wants of every client
		req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		resp, err := c.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	tr, err := wire.NewHTTP(url, wire.HTTPOptions{})
	if err != nil {
		b.Fatal(err)
	}
	s, err := mcp.Open(context.Background(), tr, mcp.Options{Protocol: "2025-11-25"})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close(context.Background())
	ours := func(int) {
		ctx, cancel := mcp.WithLimit(context.Background(), "timeout", time.Minute) // as every test has one
		defer cancel()
		if x := s.Do(ctx, mcp.Call{Method: "tools/call", Params: params}); x.Cause != nil {
			b.Fatal(x.Cause)
		}
	}
	// Alternating rounds, so that both meet the same load of the machine.
	timed := func(f func(int)) float64 {
		start := time.Now()
		for i := range 200 {
			f(i)
		}
		return float64(time.Since(start))
	}
	timed(bare)
	timed(ours)
	var ratios []float64
	for b.Loop() {
		if len(ratios)%2 == 0 {
			ratios = append(ratios, timed(ours)/timed(bare))
			continue
		}
		t := timed(bare)
		ratios = append(ratios, timed(ours)/t)
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/4], "ratio-q1")
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
	b.ReportMetric(ratios[len(ratios)*3/4], "ratio-q3")
}
