//go:build linux

package proc_test

import (
	"os/exec"
	"testing"

	"mcptest/internal/base/shellwords"
	"mcptest/internal/process/proc"
)

// The cost of starting and gracefully stopping a program, with os/exec and with this
// package.

func BenchmarkByHand(b *testing.B) {
	for b.Loop() {
		cmd := exec.Command("cat")
		in, _ := cmd.StdinPipe()
		cmd.StdoutPipe()
		cmd.StderrPipe()
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		in.Close()
		cmd.Wait()
	}
}

func BenchmarkStartStop(b *testing.B) {
	b.Run("alone", func(b *testing.B) { startStop(b, nil) })
	g, err := proc.StartWatchdog(exe(), "helper", "watchdog")
	if err != nil {
		b.Fatal(err)
	}
	led := proc.NewRegistry(g, nil)
	defer led.Close(bg, short)
	b.Run("guarded", func(b *testing.B) { startStop(b, led) })
}

func startStop(b *testing.B, k *proc.Registry) {
	for b.Loop() {
		p, err := proc.Start(bg, proc.Spec{Argv: []string{"cat"}, PipeStdin: true, PipeStdout: true, Registry: k})
		if err != nil {
			b.Fatal(err)
		}
		p.Stop(bg, proc.Grace{})
	}
}

func BenchmarkSplit(b *testing.B) {
	for b.Loop() {
		shellwords.Split(`npx -y "@modelcontextprotocol/server-everything" --port ${port} 'a b'`)
	}
}
