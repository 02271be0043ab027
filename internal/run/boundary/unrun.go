package boundary

import (
	"fmt"
	"strings"

	"mcptest/internal/base/lazy"
	"mcptest/internal/process/proc"
)

// Unrun says that the program of a test never ran: a shell or an interpreter ended in its
// place.
type Unrun struct {
	Code int
	Line string // of standard error that says so; "" if the code alone does
}

// Exit codes by which a shell, env or timeout says that it could not run a program.
const (
	codeNotExecutable = 126
	codeNotFound      = 127
	codeNotFoundByCmd = 9009 // of cmd on Windows
)

// noScript matches the line by which an interpreter says that it does not find what it
// should run.
var noScript = lazy.Regexp(`(?mi)^.*(?:` + strings.Join([]string{
	`python[\w.]*(?:\.exe)?: (?:can't open file|no module named) .*`,
	`^Error: Cannot find module '(?:/|[A-Z]:).*`,
	`^(?:ba|da|z|k)?sh: .*(?:can't|cannot) open .*`,
	`^ruby: No such file or directory -- .*`,
	`^Can't open perl script .*`,
	`^Could not open input file: .*`,
	`^Error: Unable to access jarfile .*`,
	`^Error: Could not find or load main class .*`,
	`^error: Module not found .*`,
	`could not determine executable to run.*`,
}, "|") + `)$`)

// findUnrun returns why a program that exited never ran, nil if nothing says so.
func findUnrun(stopped proc.Stopped, stderr string) *Unrun {
	code := stopped.Exit.Code
	switch {
	case stopped.How != proc.ByItself || stopped.Exit.Signal != "" || code == 0:
		return nil
	case code == codeNotExecutable || code == codeNotFound || code == codeNotFoundByCmd:
		return &Unrun{Code: code}
	}
	line := noScript().FindString(stderr)
	if line == "" {
		return nil
	}
	return &Unrun{Code: code, Line: strings.TrimSpace(line)}
}

// Error says that the program did not run.
func (u *Unrun) Error() string {
	switch {
	case u.Line != "":
		return fmt.Sprintf("the program could not be run: exit code %d, %q", u.Code, u.Line)
	case u.Code == codeNotExecutable:
		return fmt.Sprintf("the program could not be run: exit code %d, by which a shell says that it may not execute a file", u.Code)
	}
	return fmt.Sprintf("the program could not be run: exit code %d, by which a shell says that it does not find a program", u.Code)
}

// Remedy is the assertion that says that this is what the test expects.
func (u *Unrun) Remedy() string {
	if u.Line != "" {
		return fmt.Sprintf("- {target: stderr, matcher: {contains: %q}}", u.Line)
	}
	return fmt.Sprintf("- {target: exit.code, matcher: {exact: %d}}", u.Code)
}
