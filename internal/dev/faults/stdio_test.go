//go:build linux

package faults_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing/iotest"
	"time"
)

// talk defines how a server over stdio misbehaves: at one time, in one way. $ID in say is
// replaced by the id of the request, $OK by a correct response line.
type talk struct {
	at    string // "": the first test's tools/call; start, end of input, or a method
	say   string // written in one piece
	act   func(*stdio)
	hello string        // result of initialize
	found string        // result of server/discover; "": such a server is of the old kind
	tools string        // result of tools/list
	boot  func()        // before anything else
	lag   time.Duration // of the response to server/discover, while others are given
	slow  bool          // it reads a byte at a time: never more than the request it deals with
}

// stdio is a server at work.
type stdio struct {
	talk
	in   *bufio.Reader
	line []byte // the request
	id   string // its id, raw
	old  string // the id of initialize
}

const (
	goodResult = `{"content":[{"type":"text","text":"ok"}]}`
	goodHello  = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"faulty","version":"1"}}`
	goodTools  = `{"tools":[{"name":"t","description":"a tool","inputSchema":{"type":"object"}}]}`
	// A result of 2026-07-28 has a time to live.
	modernTools = `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"t","description":"a tool","inputSchema":{"type":"object"}}]}`
	goodFound   = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"faulty","version":"1"}}}`
)

func newStdio(r *row) *stdio {
	s := &stdio{talk: r.stdio, in: bufio.NewReaderSize(os.Stdin, 1<<16)}
	if r.stdio.slow {
		s.in = bufio.NewReader(iotest.OneByteReader(os.Stdin))
	}
	return s
}

// next reads a request; false at the end of the input.
func (s *stdio) next() bool {
	line, err := s.in.ReadBytes('\n')
	s.line = line
	return err == nil
}

func (s *stdio) serve() {
	if s.boot != nil {
		s.boot()
	}
	if s.at == "start" {
		s.misbehave()
	}
	for s.next() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Arguments struct{ Fault bool } }
		}
		_ = json.Unmarshal(s.line, &m)
		s.id = string(m.ID)
		if m.Method == "" {
			continue // a response
		}
		if s.at == m.Method || s.at == "" && m.Params.Arguments.Fault && (s.say != "" || s.act != nil) {
			s.misbehave()
			continue
		}
		s.behave(m.Method)
	}
	if s.at == "end" {
		s.misbehave()
	}
}

func (s *stdio) misbehave() {
	if s.say != "" {
		s.write(strings.NewReplacer("$ID", s.id, "$OLD", s.old, "$OK", answer(s.id, goodResult)).Replace(s.say))
	}
	if s.act != nil {
		s.act(s)
	}
}

// behave responds correctly.
func (s *stdio) behave(method string) {
	pick := func(a, b string) string {
		if a != "" {
			return a
		}
		return b
	}
	switch {
	case s.id == "": // a notification
	case method == "initialize":
		s.old = s.id
		s.write(answer(s.id, pick(s.hello, goodHello)))
	case method == "server/discover" && s.found != "":
		text := answer(s.id, s.found)
		time.AfterFunc(s.lag, func() { s.write(text) })
	case method == "tools/list":
		s.write(answer(s.id, pick(s.tools, goodTools)))
	case method == "tools/call":
		s.ok()
	case method == "ping":
		s.write(answer(s.id, "{}"))
	default:
		s.write(refusal(s.id, -32601, "Method not found"))
	}
}

// ok responds correctly to the request.
func (s *stdio) ok() { s.write(answer(s.id, goodResult)) }

func (s *stdio) write(text string) {
	if _, err := os.Stdout.WriteString(text); err != nil {
		os.Exit(0)
	}
}

// flood writes text n times; n < 0: without end.
func (s *stdio) flood(text string, n int) {
	big := strings.Repeat(text, max(1, min(max(n, 0)+1<<20, 1<<16)/len(text)))
	if n < 0 {
		for {
			s.write(big)
		}
	}
	left := n * len(text)
	for left >= len(big) {
		s.write(big)
		left -= len(big)
	}
	s.write(big[:left])
}

func answer(id, result string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + "}\n"
}

func refusal(id string, code int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`+"\n", id, code, message)
}

func exitWith(code int, stderr string) func(*stdio) {
	return func(*stdio) {
		fmt.Fprint(os.Stderr, stderr)
		os.Exit(code)
	}
}

// delay waits if the row tests time: a slow server, or the time of a signal. Nothing is
// synchronized with it.
func delay(d time.Duration) { time.Sleep(d) }

func hang(*stdio) { delay(time.Hour) }
