package option

import (
	"errors"
	"fmt"
	"io"

	"mcptest/internal/secret"
	"mcptest/internal/term"
)

// PrintError prints the message of a run that returned an error.
func PrintError(w io.Writer, err error) {
	if e := new(ExitError); errors.As(err, &e) && e.Message != "" {
		fmt.Fprintln(w, "mcptest: "+term.Escape(secret.NewRedactor().String(e.Message)))
	}
}
