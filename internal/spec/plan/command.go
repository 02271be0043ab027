package plan

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"mcptest/internal/base/lists"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite/interpolate"
	"mcptest/internal/spec/suite/lint"
)

// compileArgv reads a command: a list of text, or a string that is split by POSIX rules
// before placeholders are replaced.
func (c *compiler) compileArgv(n *source.Node, scope *interpolate.Scope, path string) []string {
	switch n.Kind {
	case source.KindList:
		var out []string
		for i, item := range n.Items {
			text, ok := item.AsText()
			if !ok {
				diag := c.dec.ReportWrongType(item, source.PathIndex(path, i), "text")
				if item.IsScalar() && item.Kind != source.KindNull {
					diag.Hint = fmt.Sprintf("put it in quotes: %q", item.Text)
				}
			}
			out = append(out, text)
		}
		if len(n.Items) == 0 || n.Items[0].Kind == source.KindString && out[0] == "" {
			c.dec.Errorf(n, path, "the command is empty")
		}
		return out
	case source.KindString:
		return c.compileWords(n, scope, path, "a command is one program, not a shell line: put it in a script, or write "+shellwords.WrapInShell())
	}
	c.dec.ReportWrongType(n, path, "a list of text, or text")
	return nil
}

// findShellScript returns the index of a shell's script among the words of a command,
// or -1.
func findShellScript(words []shellwords.Word) int {
	texts := lists.Map(words, func(w shellwords.Word) string { return w.Text })
	switch filepath.Base(texts[0]) {
	case "sh", "ash", "bash", "dash", "ksh", "zsh":
		return shellwords.ScriptAt(texts)
	}
	return -1
}

// compileWords splits a command string and then replaces its placeholders, so that values
// do not change the number of words.
func (c *compiler) compileWords(n *source.Node, scope *interpolate.Scope, path, hint string) []string {
	words, err := shellwords.Split(n.Text)
	if err != nil {
		if se, ok := errors.AsType[*shellwords.SplitError](err); ok {
			if strings.HasPrefix(se.Hint, "hooks run") {
				se.Hint = hint
			}
			c.dec.ErrorAt(n.In(se.Offset), path, se.Msg, cmp.Or(se.Hint, hint))
		} else {
			c.dec.Errorf(n, path, "%v", err)
		}
		return nil
	}
	if len(words) == 0 {
		c.dec.Errorf(n, path, "the command is empty")
		return nil
	}
	out := make([]string, len(words))
	script := findShellScript(words)
	for i, w := range words {
		word := n.WithText(w.Text)
		if v := scope.Expand(word, path, interpolate.Bindings{}, c.dec); v.IsScalar() {
			out[i] = v.Text
		}
		for _, e := range w.Expands {
			if i == script {
				continue // the shell expands it
			}
			c.dec.Add(source.Diagnostic{
				Pos: n.In(e.Offset), Path: path, Severity: source.Warning, Code: "not-expanded",
				Msg:  fmt.Sprintf("%s is passed on unchanged: no shell expands it", e.Text),
				Hint: "use ${name} for a variable, or " + shellwords.WrapInShell() + " for a shell",
			})
		}
	}
	if i := shellwords.ScriptAt(out); i > 0 && i < len(words) && strings.Contains(words[i].Text, "${") {
		c.dec.Add(source.Diagnostic{
			Pos: n.Pos, Path: path, Severity: source.Warning, Code: "script-value",
			Msg: "a value is inserted into a shell script as text", Hint: "pass it with env: and write \"$NAME\" in the script",
		})
	}
	lint.Backslash(c.dec, n, path, out)
	return out
}

// resolvePath resolves a path relative to the directory of the file that it is written in;
// "" is that directory.
func (c *compiler) resolvePath(written string, in *source.File) string {
	if filepath.IsAbs(written) {
		return written
	}
	dir := c.suite.Dir
	if in != nil {
		dir = filepath.Dir(in.Path)
	}
	return filepath.Join(dir, filepath.FromSlash(written))
}

// replaceSelf replaces the word mcptest at the start of a command with the path of this
// program.
func (c *compiler) replaceSelf(argv []string) []string {
	if len(argv) > 0 && argv[0] == "mcptest" && c.set.Self != "" {
		argv[0] = c.set.Self
	}
	return argv
}
