package option

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/process/proc"
	"mcptest/internal/spec/suite/variants"
)

// programTime limits a program that prints variants.
const programTime = 10 * time.Second

// newProgramOutputs returns a function that runs the programs of suites, each command line
// once in a folder, because some commands read a suite several times.
func newProgramOutputs(s cmdutil.Streams) variants.Programs {
	known := map[string][]byte{}
	return func(argv []string, dir string) ([]byte, error) {
		key := dir + "\x00" + strings.Join(argv, "\x00")
		if out, again := known[key]; again {
			return out, nil
		}
		world := cmdutil.NewWorld(s, slog.New(slog.DiscardHandler))
		defer world.Close()
		ctx, cancel := context.WithTimeout(context.Background(), programTime)
		defer cancel()
		r := proc.Run(ctx, proc.Spec{Argv: argv, Dir: dir, Env: s.Env, Registry: world.Registry})
		if err := r.Err(); err != nil {
			if r.Cause != nil {
				err = fmt.Errorf("%s did not end within %v", argv[0], programTime)
			}
			return nil, fmt.Errorf("%w%s", err, strings.Join(append([]string{""}, r.Stderr.Lines(3)...), "\n"))
		}
		known[key] = r.Stdout.Bytes()
		return known[key], nil
	}
}
