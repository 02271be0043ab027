package openings_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mcptest/internal/offer/compat"
)

// realPatience is how long published servers may take to start and to answer.
const realPatience = 2 * time.Minute

// published is a line of tools/servers.txt and of tools/openings.txt.
type published struct {
	name, pkg, stdio, http string
	variables              map[string]string
}

// readPublished reads the lists of servers. FOLDER_ stands for the folder of the server.
func readPublished(t *testing.T, folder string) (all []published) {
	t.Helper()
	for _, list := range []string{"servers.txt", "openings.txt"} {
		data, err := os.ReadFile(filepath.Join("../../../tools", list))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			part := strings.Split(strings.TrimSpace(line), "|")
			if len(part) != 5 {
				t.Fatalf("%s: %q has %d parts", list, line, len(part))
			}
			at := filepath.Join(folder, part[0])
			for i := range part {
				part[i] = strings.ReplaceAll(part[i], "FOLDER_", at)
			}
			p := published{name: part[0], pkg: part[1], stdio: part[2], http: part[3], variables: map[string]string{}}
			for pair := range strings.SplitSeq(part[4], ",") {
				if name, value, ok := strings.Cut(pair, "="); ok {
					p.variables[name] = value
				}
			}
			all = append(all, p)
		}
	}
	return all
}

// command returns the words of a command, with the path of the program.
func (p published) command(folder, text string) []string {
	words := strings.Fields(text)
	if len(words) == 0 || text == "-" {
		return nil
	}
	for _, at := range []string{"node_modules/.bin", "bin"} {
		program, err := filepath.Abs(filepath.Join(folder, p.name, at, words[0]))
		if err != nil {
			continue
		}
		if _, err := os.Stat(program); err == nil {
			words[0] = program
			return words
		}
	}
	return nil
}

// subject returns the server over stdio.
func (p published) subject(folder string) (subject, bool) {
	argv := p.command(folder, p.stdio)
	return subject{
		Name: p.name + " stdio", Command: argv, Env: p.variables, wait: realPatience,
		Dir: filepath.Join(folder, p.name),
	}, argv != nil
}

// address starts the server over HTTP, and waits until its port is open. It runs until stop
// is called.
func (p published) address(t *testing.T, folder string) (s subject, stop func(), ok bool) {
	t.Helper()
	text, path, found := strings.Cut(p.http, "#")
	if !found {
		path = "/mcp"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)
	listener.Close()
	argv := p.command(folder, strings.ReplaceAll(text, "PORT_", port))
	if argv == nil {
		return subject{}, nil, false
	}
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir = filepath.Join(folder, p.name)
	cmd.Env = os.Environ()
	for name, value := range p.variables {
		cmd.Env = append(cmd.Env, name+"="+strings.ReplaceAll(value, "PORT_", port))
	}
	log, err := os.Create(filepath.Join(folder, p.name, "http.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Logf("%s over HTTP does not start: %v", p.name, err)
		return subject{}, nil, false
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	stop = func() {
		_ = cmd.Process.Kill()
		<-ended
	}
	s = subject{Name: p.name + " http", URL: "http://localhost:" + port + path, wait: realPatience}
	for began := time.Now(); time.Since(began) < realPatience; {
		conn, err := net.DialTimeout("tcp", "localhost:"+port, time.Second)
		if err == nil {
			conn.Close()
			return s, stop, true
		}
		select {
		case err := <-ended:
			t.Logf("%s over HTTP ends: %v", p.name, err)
			return subject{}, nil, false
		case <-time.After(100 * time.Millisecond):
		}
	}
	stop()
	t.Logf("%s over HTTP does not listen on its port", p.name)
	return subject{}, nil, false
}

// tally counts what was compared.
type tally struct {
	rules compat.Rules

	mu    sync.Mutex
	rows  []string
	tried map[string]int // servers, by transport
}

// compare opens a server with the real clients and with the replay, and repeats what differs
// with a server of its own for each: one may accept a single session, or have been slow.
func (c *tally) compare(t *testing.T, p published, transport string, open func() (subject, func(), bool)) {
	t.Helper()
	s, stop, ok := open()
	if !ok {
		return
	}
	fate, verdicts := c.realFates(t, s), replayed(t, s, c.rules)
	stop()
	row := "| " + p.pkg + " | " + transport + " |"
	for _, kind := range clients {
		v := verdicts[kind]
		if v.Connected != (fate[kind] == "") {
			t.Logf("%s, %s: replay: connected %t (%s to %s), client: %q", s.Name, kind, v.Connected, v.Says, v.Method, fate[kind])
			if s, stop, ok := open(); ok {
				fate[kind] = c.realFates(t, s, kind)[kind]
				stop()
			}
			if s, stop, ok := open(); ok {
				v = replayed(t, s, c.rules, kind)[kind]
				stop()
			}
		}
		compareFate(t, s.Name+", "+kind, v, fate[kind])
		if v.Connected {
			row += " " + v.Revision + " |"
			continue
		}
		row += " no |"
		if !isPinned(v) {
			t.Logf("%s, %s: %s to %s; %s%s; client: %s", s.Name, kind, v.Says, v.Method, v.Does, v.Unjudged, fate[kind])
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows = append(c.rows, row)
	c.tried[transport]++
	t.Log(row)
}

// clients are those that are compared, in the order of the table.
var clients = []string{"one", "two", "auto", "pin", "go"}

// realFates returns what the real clients do.
func (c *tally) realFates(t *testing.T, s subject, only ...string) map[string]string {
	t.Helper()
	fate := map[string]string{}
	if len(only) == 0 || only[0] != "go" {
		all, err := typescriptFates(t, []subject{s}, s.wait, 1, only...)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		fate = all[0]
	}
	if len(only) == 0 || only[0] == "go" {
		fate["go"] = goFate(s)
	}
	return fate
}

// The replay lets in whom the real clients of the SDKs get in on published servers, too.
// `make openings` installs them.
func TestAgreesOnPublishedServers(t *testing.T) {
	folder := os.Getenv("MCPTEST_OPENINGS")
	if folder == "" {
		t.Skip("make openings runs it")
	}
	requireSDKs(t)
	rules, err := compat.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	folder, err = filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	only := os.Getenv("MCPTEST_OPENINGS_ONLY")
	count := &tally{rules: rules, tried: map[string]int{}}
	t.Run("servers", func(t *testing.T) {
		for _, p := range readPublished(t, folder) {
			if only != "" && !slices.Contains(strings.Split(only, ","), p.name) {
				continue
			}
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				count.compare(t, p, "stdio", func() (subject, func(), bool) {
					s, ok := p.subject(folder)
					return s, func() {}, ok
				})
				count.compare(t, p, "http", func() (subject, func(), bool) { return p.address(t, folder) })
			})
		}
	})
	slices.Sort(count.rows)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintln(out, "| Server | Transport | TypeScript 1 | TypeScript 2 | … auto | … pinned | Go |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|")
	for _, row := range count.rows {
		fmt.Fprintln(out, row)
	}
	fmt.Fprintf(out, "servers by transport: %v\n", count.tried)
}
