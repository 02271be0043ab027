package cli_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// leaky is a server that leaks, as its arguments say, for each session (HTTP) or call
// (stdio):
//
//	leaky http PORT [memory=KIB] [descriptors=N] [threads=N] [processes=N]
//	      [unless=delete] [idle=DURATION] [cache=KIB] [die=N] [refuse=N] [slow=DURATION]
//	leaky stdio …the same, and stay=N, deaf=1
//
// pause=DURATION stops for that long at the start of every 2 s; pid=FILE writes the process id after 100 units; unit=call counts calls also over HTTP;
// unless=delete keeps memory only of sessions that are not ended; idle frees memory and
// descriptors after a time without a unit; stay starts processes that outlive it, and deaf ignores the end of its input.
type leaky struct {
	set map[string]string

	mu    sync.Mutex
	units int
	kept  map[string][]byte
	files []*os.File
	cache []byte
	idle  *time.Timer
}

func leakyMain() {
	if len(os.Args) > 1 && os.Args[1] == "sleep" {
		time.Sleep(10 * time.Minute)
		return
	}
	s := &leaky{set: map[string]string{}, kept: map[string][]byte{}}
	for _, arg := range os.Args[2:] {
		name, value, _ := strings.Cut(arg, "=")
		s.set[name] = value
	}
	if os.Args[1] == "http" {
		fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+os.Args[2], s))
		os.Exit(1)
	}
	for range s.number("stay") {
		s.sleeper()
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		if reply, _, _ := s.answer(in.Bytes(), "call"); reply != "" {
			fmt.Println(reply)
		}
	}
	if s.number("deaf") > 0 {
		time.Sleep(10 * time.Minute)
	}
}

func (s *leaky) number(name string) int { n, _ := strconv.Atoi(s.set[name]); return n }

func (s *leaky) sleeper() {
	cmd := exec.Command("/proc/self/exe", "sleep")
	cmd.Args[0] = "leaky"
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// keep leaks what one unit leaks.
func (s *leaky) keep() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.units++
	id := strconv.Itoa(s.units)
	if s.units == 100 && s.set["pid"] != "" {
		if err := os.WriteFile(s.set["pid"], []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if s.units == s.number("die") {
		fmt.Fprintln(os.Stderr, "panic: out of luck")
		os.Exit(7)
	}
	if n := s.number("memory"); n > 0 {
		s.kept[id] = make([]byte, n<<10)
		for i := 0; i < len(s.kept[id]); i += 512 {
			s.kept[id][i] = 1
		}
	}
	if n := s.number("cache") << 10; len(s.cache) < n {
		s.cache = append(s.cache, make([]byte, 4096)...)
	}
	for range s.number("descriptors") {
		if f, err := os.Open(os.DevNull); err == nil {
			s.files = append(s.files, f)
		}
	}
	for range s.number("threads") {
		started := make(chan bool)
		go func() {
			runtime.LockOSThread()
			close(started)
			for {
				time.Sleep(time.Hour)
			}
		}()
		<-started
	}
	for range s.number("processes") {
		s.sleeper()
	}
	if d, err := time.ParseDuration(s.set["idle"]); err == nil && s.idle == nil {
		s.idle = time.AfterFunc(d, s.free)
	} else if err == nil {
		s.idle.Reset(d)
	}
	return id
}

func (s *leaky) free() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.kept)
	for _, f := range s.files {
		_ = f.Close()
	}
	s.files = nil
}

func (s *leaky) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.kept, id)
}

// answer answers one message; unit is the method that begins a unit.
func (s *leaky) answer(raw []byte, unit string) (reply, session string, refused bool) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ Name string }
	}
	_ = json.Unmarshal(raw, &m)
	if m.Method == unit || unit == "call" && (m.Method == "ping" || m.Method == "tools/call") {
		session = s.keep()
		if n := s.number("refuse"); n > 0 && s.units > n {
			return "", "", true
		}
		if d, err := time.ParseDuration(s.set["slow"]); err == nil {
			time.Sleep(d)
		}
		if d, err := time.ParseDuration(s.set["pause"]); err == nil {
			time.Sleep(d - time.Duration(time.Now().UnixNano())%(2*time.Second))
		}
	}
	if m.ID == nil {
		return "", session, false
	}
	result := "{}"
	switch m.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"leaky","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"read","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"fail","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},` +
			`{"name":"write","inputSchema":{"type":"object"}},{"name":"drop","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}]}`
	case "tools/call":
		result = fmt.Sprintf(`{"content":[{"type":"text","text":"no %s"}],"isError":%t}`, m.Params.Name, m.Params.Name == "fail")
	case "ping":
	default:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID), session, false
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result), session, false
}

func (s *leaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodDelete:
		if s.set["unless"] == "delete" {
			s.forget(r.Header.Get("Mcp-Session-Id"))
		}
	case http.MethodPost:
		raw, _ := io.ReadAll(r.Body)
		reply, session, refused := s.answer(raw, cmp.Or(s.set["unit"], "initialize"))
		if session != "" {
			w.Header().Set("Mcp-Session-Id", session)
		}
		switch {
		case refused:
			http.Error(w, "too many sessions", http.StatusInsufficientStorage)
		case reply == "":
			w.WriteHeader(http.StatusAccepted)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, reply)
		}
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}
