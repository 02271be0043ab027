//go:build linux

package faults_test

import (
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var pageFile = flag.String("page", "", "write the table of faults to this `file`, as Markdown")

// program is the mcptest under test, self is the misbehaving server. Both are set once,
// before any test.
var program, self string

// TestMain acts as a misbehaving server if it is called as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "--fault" {
		serveFault(os.Args[2])
		return
	}
	flag.Parse()
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	hearHangup()
	dir, err := os.MkdirTemp("", "faults")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if self, err = os.Executable(); err != nil {
		panic(err)
	}
	if program = os.Getenv("MCPTEST_PROGRAM"); program == "" {
		program = filepath.Join(dir, "mcptest")
		// With the flags of the tests, so that only the linker has work to do. Without the
		// version stamp, because git may refuse a repository of another user.
		cmd := exec.Command("go", "build", "-buildvcs=false", "-o", program, "mcptest/cmd/mcptest")
		if msg, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build mcptest: %v\n%s", err, msg)
			return 1
		}
	}
	return m.Run()
}

// serveFault is the server of one row, until its input ends.
func serveFault(id string) {
	r := rowOf(id)
	switch {
	case r == nil:
		fmt.Fprintf(os.Stderr, "unknown fault %q\n", id)
		os.Exit(9)
	case r.http != nil:
		srv := httptest.NewServer(r.http.handler())
		fmt.Println(srv.URL)
		select {}
	default:
		newStdio(r).serve()
	}
}
