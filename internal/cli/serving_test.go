package cli_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// servingMain runs `serving SERVER… -- COMMAND…`: it starts the server, takes
// the address from its line "listening on …", runs the command with that in
// URL, ends the server and exits as the command did.
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
	_ = server.Process.Signal(os.Interrupt)
	_ = server.Wait()
	os.Exit(code)
}
