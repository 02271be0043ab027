package option

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/process/proc"
)

// A panic stops every process and is exit code 4, with a message.
func TestPanicStopsEverything(t *testing.T) {
	var errs bytes.Buffer
	w := cmdutil.NewWorld(cmdutil.Streams{Err: &errs}, slog.New(slog.DiscardHandler))
	defer w.Close()
	p, err := proc.Start(context.Background(), proc.Spec{Argv: []string{"sleep", "300"}, Registry: w.Registry})
	if err != nil {
		t.Fatal(err)
	}
	err = Guarded(w, &errs, func() error { panic("a mistake") })
	var ee *ExitError
	if !errors.As(err, &ee) || ee.Code != ExitInternal || !strings.Contains(errs.String(), "internal error: a mistake") {
		t.Errorf("%v\n%s", err, errs.String())
	}
	select {
	case <-p.Done():
	case <-time.After(time.Minute):
		t.Error("the process lives")
	}
}
