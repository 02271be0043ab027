package mcp_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// serverEnv makes the test binary a server instead: its value names which.
const serverEnv = "MCP_TEST_SERVER"

func TestMain(m *testing.M) {
	if name := os.Getenv(serverEnv); name != "" {
		os.Exit(serve(name))
	}
	// Most tests wait for a limit, so that more of them than processors run at once.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

func serve(name string) int {
	switch name {
	case "sdk":
		serveSDK()
	case "http":
		floorHTTP()
	case "floor":
		floorServer()
	default:
		return faultServer(name)
	}
	return 0
}

// floorServer answers every line with almost no work: what is left is the cost
// of the pipes and of the client.
func floorServer() {
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	var out []byte
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return
		}
		i := bytes.Index(line, []byte(`"id":`))
		if i < 0 {
			continue
		}
		i += len(`"id":`)
		j := i
		for line[j] >= '0' && line[j] <= '9' {
			j++
		}
		out = append(append(out, `{"jsonrpc":"2.0","id":`...), line[i:j]...)
		if bytes.Contains(line, []byte(`"initialize"`)) {
			out = append(out, `,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"floor","version":"1"}}}`...)
		} else {
			out = append(out, `,"result":{"content":[{"type":"text","text":"hello world"}],"isError":false}}`...)
		}
		out = append(out, '\n')
		if in.Buffered() == 0 || len(out) > 32<<10 {
			if _, err := os.Stdout.Write(out); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return
			}
			out = out[:0]
		}
	}
}
