package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	var err error
	switch {
	case len(args) == 2 && args[0] == "client":
		err = client(args[1])
	case len(args) == 0:
		err = runJudge()
	default:
		err = errors.New("expected no arguments, or: client URL")
	}
	if err == nil {
		return 0
	}
	if len(args) == 0 || !errors.As(err, new(*exec.ExitError)) { // mcptest has printed the reason of its failure
		fmt.Fprintln(os.Stderr, "conformance:", err)
	}
	return 1
}

func runJudge() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	temp, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(temp)
	return (&judge{dir: filepath.Join("testdata", "conformance"), temp: temp}).all(ctx)
}
