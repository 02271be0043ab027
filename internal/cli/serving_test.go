package cli_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/client/protocol"
)

// servingMain runs `serving SERVER… -- COMMAND…`: it starts the server, reads the address
// from its line "listening on …", runs the command with that in URL, stops the server and
// exits with the command's exit code.
func servingMain() {
	i := slices.Index(os.Args, "--")
	server := exec.Command(os.Args[1], os.Args[2:i]...)
	stderr, err := server.StderrPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(125)
	}
	lines := bufio.NewScanner(stderr)
	url := ""
	for url == "" && lines.Scan() {
		_, url, _ = strings.Cut(lines.Text(), "listening on ")
	}
	go func() {
		for lines.Scan() {
		}
	}()
	cmd := exec.Command(os.Args[i+1], os.Args[i+2:]...)
	cmd.Env = append(os.Environ(), "URL="+url)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	code := 0
	if err := cmd.Run(); err != nil {
		code = max(1, cmd.ProcessState.ExitCode())
	}
	endPolitely(server.Process)
	_ = server.Wait()
	os.Exit(code)
}

// bigMain runs `big MB`: a server with one tool, whose result has a text of that size,
// which it does not keep in memory.
func bigMain() {
	size, _ := strconv.Atoi(os.Args[1])
	in, out := bufio.NewScanner(os.Stdin), bufio.NewWriter(os.Stdout)
	for in.Scan() {
		id := protocol.MemberOf(in.Bytes(), "id")
		reply := `{"jsonrpc":"2.0","id":` + string(id) + `,"result":`
		switch method := protocol.TextOf(protocol.MemberOf(in.Bytes(), "method")); {
		case id == nil:
			continue
		case method == "initialize":
			out.WriteString(reply + `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"big","version":"1"}}}` + "\n")
		case method == "tools/list":
			out.WriteString(reply + `{"tools":[{"name":"big","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}}` + "\n")
		case method == "tools/call":
			out.WriteString(reply + `{"content":[{"type":"text","text":"`)
			for n := 0; n < size<<20; n += len(`a "big" text\n`) {
				out.WriteString(`a \"big\" text\n`)
			}
			out.WriteString(`"}]}}` + "\n")
		default:
			out.WriteString(`{"jsonrpc":"2.0","id":` + string(id) + `,"error":{"code":-32601,"message":"no such method"}}` + "\n")
		}
		out.Flush()
	}
}

// endPolitely interrupts a program. Windows has no signals: there it is ended.
func endPolitely(p *os.Process) {
	if err := p.Signal(os.Interrupt); err != nil {
		_ = p.Kill()
	}
}
