// Command floor is the least a client can do, and the launcher that measures
// it and others:
//
//	floor call N WINDOW eof|term KEY COMMAND…   N calls of the tool echo
//	floor measure MARK COMMAND…                 what running the command cost
//
// call starts the server, shakes hands, keeps WINDOW calls in flight, parses
// every answer and compares one text in it; KEY is the name of the argument.
// Then it prints a line and ends the
// server: by closing its input and waiting, or with SIGTERM at once.
//
// measure prints JSON: times in microseconds, memory in KiB. "verdict" is when
// the command had printed MARK, which says how its first test went. Its own memory is
// small because the peak of a child counts from before its exec.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

func main() {
	var err error
	if len(os.Args) > 3 && os.Args[1] == "measure" {
		err = measure(os.Args[2], os.Args[3:])
	} else if len(os.Args) > 6 && os.Args[1] == "call" {
		n, _ := strconv.Atoi(os.Args[2])
		window, _ := strconv.Atoi(os.Args[3])
		err = call(n, window, os.Args[4], os.Args[5], os.Args[6:])
	} else {
		err = fmt.Errorf("usage: floor call N WINDOW eof|term KEY COMMAND… | floor measure MARK COMMAND…")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func call(n, window int, stop, key string, argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	w, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	r, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	in := bufio.NewReaderSize(r, 32<<10)
	if err := hello(w, in); err != nil {
		return err
	}
	if err := calls(w, in, n, window, key); err != nil {
		return err
	}
	fmt.Println("✓ echo 1")
	if stop == "term" {
		_ = cmd.Process.Signal(syscall.SIGTERM)
	}
	w.Close()
	_, _ = io.Copy(io.Discard, in)
	_ = cmd.Wait()
	return nil
}

func hello(w io.Writer, in *bufio.Reader) error {
	if _, err := io.WriteString(w, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"floor","version":"1"}}}`+"\n"); err != nil {
		return err
	}
	if _, err := answer(in, 0); err != nil {
		return err
	}
	_, err := io.WriteString(w, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return err
}

func calls(w io.Writer, in *bufio.Reader, n, window int, key string) error {
	var line []byte
	sent := 0
	send := func() error {
		sent++
		line = append(line[:0], `{"jsonrpc":"2.0","id":`...)
		line = strconv.AppendInt(line, int64(sent), 10)
		line = append(line, `,"method":"tools/call","params":{"name":"echo","arguments":{"`...)
		line = append(line, key...)
		line = append(line, `":"hello `...)
		line = strconv.AppendInt(line, int64(sent), 10)
		line = append(line, `"}}}`+"\n"...)
		_, err := w.Write(line)
		return err
	}
	for range min(window, n) {
		if err := send(); err != nil {
			return err
		}
	}
	for range n {
		m, err := answer(in, -1)
		if err != nil {
			return err
		}
		if sent < n {
			if err := send(); err != nil {
				return err
			}
		}
		id, _ := m["id"].(float64)
		res, _ := m["result"].(map[string]any)
		content, _ := res["content"].([]any)
		if len(content) != 1 {
			return fmt.Errorf("an answer without content: %v", m)
		}
		first, _ := content[0].(map[string]any)
		if want := "hello " + strconv.Itoa(int(id)); first["text"] != want && first["text"] != "Echo: "+want {
			return fmt.Errorf("got %v, want %s", first["text"], want)
		}
	}
	return nil
}

// answer reads lines until an answer comes; id -1 takes any.
func answer(in *bufio.Reader, id float64) (map[string]any, error) {
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, err
		}
		if got, ok := m["id"].(float64); ok && m["method"] == nil && (id < 0 || got == id) {
			return m, nil
		}
	}
}

func measure(mark string, argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.Stdout = w
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	w.Close()
	var verdict time.Duration
	buf := make([]byte, 32<<10)
	var head, tail []byte
	for {
		n, err := r.Read(buf)
		if len(head) < 2000 {
			head = append(head, buf[:n]...)
		}
		tail = append(tail, buf[:n]...)
		tail = tail[max(0, len(tail)-4000):]
		if verdict == 0 && bytes.Contains(head, []byte(mark)) {
			verdict = time.Since(start)
		}
		if err != nil {
			break
		}
	}
	err = cmd.Wait()
	wall := time.Since(start)
	if err != nil {
		return fmt.Errorf("%v: %w\n%s", argv, err, tail)
	}
	if verdict == 0 {
		return fmt.Errorf("%v did not print %q:\n%s", argv, mark, head)
	}
	use := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return json.NewEncoder(os.Stdout).Encode(map[string]int64{
		"wall": wall.Microseconds(), "verdict": verdict.Microseconds(),
		"cpu": (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Microseconds(),
		"rss": int64(use.Maxrss), "switches": int64(use.Nvcsw + use.Nivcsw),
	})
}
