package run

import (
	"context"
	"log/slog"

	"mcptest/internal/proc"
	"mcptest/internal/result"
)

// logProgram tells the log how a hook or step ended and what it wrote.
func (r *runner) logProgram(ph *result.Phase, p proc.Result) {
	if !r.log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	log := r.log.With("phase", ph.Phase, "name", ph.Name)
	end := p.Exit.String()
	if err := programError(p); err != nil {
		end = err.Error()
	}
	logOutput(log, p.Stdout, "stdout")
	if p.Stderr != p.Stdout {
		logOutput(log, p.Stderr, "stderr")
	}
	log.Debug("program ended", "how", end, "took", p.Duration)
}

// logBackground does the same for a background step that was stopped.
func (r *runner) logBackground(s bgStep, st proc.Stopped) {
	if !r.log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	log := r.log.With("phase", s.step.Phase, "name", s.step.Name)
	logOutput(log, s.p.Output(), "stdout")
	if s.p.Stderr() != s.p.Output() {
		logOutput(log, s.p.Stderr(), "stderr")
	}
	log.Debug("background step stopped", "pid", st.Pid, "how", st.How.String(), "exit", st.Exit.String(), "took", st.Took)
}

// debugLines bounds what the log shows of one stream.
const debugLines = 200

func logOutput(log *slog.Logger, t *proc.Tail, stream string) {
	if t == nil {
		return
	}
	for _, line := range t.Lines(debugLines) {
		log.Debug(line, "stream", stream)
	}
}
