package cli

import (
	"bufio"
	"io"

	"mcptest/internal/plan"
	"mcptest/internal/secret"
	"mcptest/internal/term"
)

// masked hides the secrets of a plan's suites in what fn writes.
func masked(w io.Writer, p *plan.Plan, fn func(b *bufio.Writer)) error {
	redactor := secret.NewRedactor()
	for _, f := range p.Files {
		redactor.Add(f.Suite.Secrets...)
	}
	out := redactor.Writer(w)
	b := bufio.NewWriter(out)
	fn(b)
	err := b.Flush()
	if closed := out.Close(); err == nil {
		err = closed
	}
	return err
}

// listTests prints the names of the selected tests, one a line.
func listTests(w io.Writer, p *plan.Plan) error {
	return masked(w, p, func(b *bufio.Writer) {
		for i := range p.Len() {
			_, _ = b.WriteString(term.Escape(p.Name(i)))
			_ = b.WriteByte('\n')
		}
	})
}
