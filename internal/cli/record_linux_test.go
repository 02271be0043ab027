package cli_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
)

// If the client, the recorder or a server that ignores the end of its input is killed, no
// process is left, and the recording is readable.
func TestRecordLeavesNothing(t *testing.T) {
	for name, kill := range map[string]func(client []io.Closer, recorder, server int){
		"client": func(client []io.Closer, _, _ int) { // what the kernel does with its pipes
			for _, pipe := range client {
				pipe.Close()
			}
		},
		"recorder": func(_ []io.Closer, recorder, _ int) { _ = syscall.Kill(recorder, syscall.SIGKILL) },
		"server":   func(_ []io.Closer, _, server int) { _ = syscall.Kill(server, syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "killed.cassette.ndjson")
			cmd := exec.Command("mcptest", "record", "-q", "-o", file, "--", "sh", "-c", "echo $$; exec sleep 600")
			cmd.Env = append(os.Environ(), "CI=") // recordings are refused in CI
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			server, _ := strconv.Atoi(strings.TrimSpace(line))
			if err != nil || server == 0 {
				t.Fatal(line, err)
			}
			fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
			kill([]io.Closer{in, out}, cmd.Process.Pid, server)
			state := make(chan *os.ProcessState, 1)
			go func() {
				_ = cmd.Wait()
				state <- cmd.ProcessState
			}()
			select {
			case s := <-state:
				if name == "server" && s.ExitCode() != 137 {
					t.Errorf("the recorder ended with %s, expected exit code 137", s)
				}
			case <-time.After(time.Minute):
				_ = cmd.Process.Kill()
				t.Error("the recorder still runs")
			}
			testkit.Wait(t, "the server ends", func() bool {
				args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", server)) // a zombie has none
				return len(args) == 0
			})
			show := exec.Command("mcptest", "cassette", "show", file)
			if text, err := show.CombinedOutput(); err != nil && name != "recorder" {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
}
