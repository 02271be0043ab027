package testkit_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"mcptest/internal/base/testkit"
)

// Tests that run at the same time, also in several processes, never get the same port.
func TestFreePortsDiffer(t *testing.T) {
	const each = 2000
	if os.Getenv("MCPTEST_PORTS") != "" { // the process below
		for range each {
			fmt.Println("port", testkit.FindFreePort())
		}
		fmt.Scanln() // keeps them
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("ports are reserved on Linux only")
	}
	seen := map[string]bool{}
	for range 3 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFreePortsDiffer$")
		cmd.Env = append(os.Environ(), "MCPTEST_PORTS=1")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { in.Close(); _ = cmd.Wait() }()
		for range each {
			var port string
			if _, err := fmt.Fscanf(out, "port %s\n", &port); err != nil {
				t.Fatal(err)
			}
			if seen[port] {
				t.Errorf("two tests got port %s", port)
			}
			seen[port] = true
		}
	}
}
