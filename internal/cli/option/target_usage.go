package option

import (
	"cmp"
	"path/filepath"
	"strings"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/spec/plan"
)

// Where describes the target: the address, or the command.
func Where(sv *plan.Server) string {
	if sv.URL != "" {
		return sv.URL
	}
	return shellwords.QuoteAllForShell(sv.Written())
}

// Usage returns the flags and arguments that select the same server, or "". The line
// is for output: credentials in it are masked.
func (f *TargetFlags) Usage(s cmdutil.Streams, argv []string) string {
	var words []string
	switch {
	case len(argv) > 0:
		for _, name := range f.env {
			words = append(words, "--env", name)
		}
		words = append(append(words, "--"), argv...)
	case f.URL != "":
		words = []string{"--url", f.URL}
	case f.Server != "":
		suite := cmp.Or(strings.Join(f.Configs, ""), DefaultSuites[0])
		words = []string{"--server", f.Server, "--config", filepath.ToSlash(suite)}
	default:
		return ""
	}
	if f.Client != "" {
		words = append([]string{"--client", f.Client}, words...)
	}
	redactor := secret.NewRedactor()
	redactor.Add(secret.FindInEnviron(s.Env)...)
	redactor.Add(secret.Arguments(argv)...)
	for i, word := range words { // one by one, because a short secret is only masked as a whole
		words[i] = redactor.Whole(word, nil)
	}
	return " " + redactor.Whole(shellwords.QuoteAllForShell(words), nil)
}
