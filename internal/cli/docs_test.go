package cli_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every command and every suite in the documents is tested, page by page, each page in its
// own directory and its blocks in order. The language of a block decides how it is tested:
//
//	yaml     a suite, or a part of one, is validated
//	sh       the commands are run as a script, which ends with 0
//	console  behind "$ ", a command that prints the lines below it
//	others   are only shown
//
// A comment before a block changes this:
//
//	<!-- test: file NAME -->     the block is the file NAME of the page's folder
//	<!-- test: exit N -->        the script ends with N
//	<!-- test: output -->        the block is what the script before it prints,
//	                             but for times
//	<!-- test: refused -->       validating the suite fails
//	<!-- test: with NAME… -->    these files of examples/ are copied there first;
//	                             OTHER=NAME copies one under another name
//	<!-- test: first COMMAND --> this command is run before
//	<!-- test: env NAME=VALUE -->  the page's commands get this variable
//	<!-- test: shown REASON -->  the block can't be tried here
//
// Several of them are separated by semicolons.

// docBlock is one fenced block of a page.
type docBlock struct {
	page, lang, text string
	line             int
	directives       []string
}

// directive returns the rest of the directive that begins with a word.
func (b docBlock) directive(word string) (rest string, ok bool) {
	for _, d := range b.directives {
		if d == word {
			return "", true
		}
		if rest, ok := strings.CutPrefix(d, word+" "); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return "", false
}

var (
	fence      = regexp.MustCompile("(?ms)((?:^<!-- test: [^\n]* -->\n)?)^```([a-z]*)\n(.*?)^```$")
	directives = []string{"file", "exit", "output", "refused", "with", "first", "env", "shown"}
)

// docBlocks reads the blocks of a page.
func docBlocks(t *testing.T, root, page string) []docBlock {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	var out []docBlock
	for _, m := range fence.FindAllSubmatchIndex(text, -1) {
		b := docBlock{page: page, lang: string(text[m[4]:m[5]]), text: string(text[m[6]:m[7]]), line: 1 + strings.Count(string(text[:m[4]]), "\n")}
		if c := strings.TrimSpace(string(text[m[2]:m[3]])); c != "" {
			for d := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(c, "<!-- test: "), " -->"), "; ") {
				b.directives = append(b.directives, strings.TrimSpace(d))
			}
		}
		for _, d := range b.directives {
			if word, _, _ := strings.Cut(d, " "); !slices.Contains(directives, word) {
				t.Errorf("%s:%d: unknown directive %q", page, b.line, d)
			}
		}
		out = append(out, b)
	}
	return out
}

// ownServer are pages whose commands need a server with an address; guides_test.go runs
// them.
var ownServer = []string{"remote.md", "revisions.md", "oauth.md"}

// docPages are the pages for users: all Markdown except generated pages, which have their
// own tests, and pages for developers. Of the guide for coding agents it is the template,
// which has the comments.
func docPages(t *testing.T, root string) []string {
	t.Helper()
	out := []string{"README.md", filepath.Join("examples", "README.md"), filepath.Join("internal", "cli", "gen", "testdata", "skill.md")}
	for _, dir := range []string{"tutorial", "guides", "spec"} {
		err := filepath.WalkDir(filepath.Join(root, "docs", dir), func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".md") && !slices.Contains(ownServer, filepath.Base(path)) {
				rel, _ := filepath.Rel(root, path)
				out = append(out, rel)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestDocs(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range docPages(t, root) {
		t.Run(filepath.ToSlash(page), func(t *testing.T) {
			t.Parallel()
			p := docPage{t: t, root: root, dir: t.TempDir()}
			for _, b := range docBlocks(t, root, page) {
				p.try(b)
			}
		})
	}
}

// docPage is the directory of a page and the output of its last script.
type docPage struct {
	t         *testing.T
	root, dir string
	env       []string
	printed   string
}

func (p *docPage) errorf(b docBlock, format string, args ...any) {
	p.t.Helper()
	p.t.Errorf("%s:%d: "+format, append([]any{b.page, b.line}, args...)...)
}

func (p *docPage) try(b docBlock) {
	if reason, shown := b.directive("shown"); shown {
		if reason == "" {
			p.errorf(b, "the block is not tried and has no reason")
		}
		return
	}
	if names, ok := b.directive("with"); ok {
		for name := range strings.FieldsSeq(names) {
			p.copy(b, name)
		}
	}
	for _, d := range b.directives {
		if pair, ok := strings.CutPrefix(d, "env "); ok {
			p.env = append(p.env, pair)
		}
		if command, ok := strings.CutPrefix(d, "first "); ok {
			if out, code := p.run("sh", "-ec", command); code != "0" {
				p.errorf(b, "%s ends with %s:\n%s", command, code, out)
			}
		}
	}
	if name, ok := b.directive("file"); ok {
		p.write(b, name, b.text)
	}
	if _, ok := b.directive("output"); ok {
		p.compare(b)
		return
	}
	switch b.lang {
	case "sh":
		p.script(b, b.text)
	case "console":
		if command, rest, ok := strings.Cut(b.text, "\n"); ok && strings.HasPrefix(command, "$ ") {
			p.script(b, command[2:])
			b.text = rest
			p.compare(b)
		}
	case "yaml":
		p.suite(b)
	}
}

func (p *docPage) write(b docBlock, name, text string) {
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.errorf(b, "%v", err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.errorf(b, "%v", err)
	}
}

// copy copies a file of examples/ into the page's directory.
func (p *docPage) copy(b docBlock, name string) {
	name, as, renamed := strings.Cut(name, "=")
	if !renamed {
		as = name
	}
	text, err := os.ReadFile(filepath.Join(p.root, "examples", name))
	if err != nil {
		p.errorf(b, "%v", err)
		return
	}
	p.write(b, as, string(text))
}

// script runs the commands of a block.
func (p *docPage) script(b docBlock, text string) {
	want, ok := b.directive("exit")
	if !ok {
		want = "0"
	}
	for _, program := range []string{"mcptest", "mcpaql-conformance"} {
		text = strings.ReplaceAll(text, "go run ./cmd/"+program+" ", program+" ")
	}
	out, code := p.run("sh", "-ec", p.makes(b, text))
	p.printed = out
	if code != want {
		p.errorf(b, "it ends with %s, want %s:\n%s\n%s", code, want, b.text, out)
	}
}

// makes removes lines that run make; their targets must exist: make test would run this
// test again.
func (p *docPage) makes(b docBlock, script string) string {
	return regexp.MustCompile(`(?m)^make ([a-z]+)\b.*$`).ReplaceAllStringFunc(script, func(line string) string {
		target := strings.Fields(line)[1]
		text, err := os.ReadFile(filepath.Join(p.root, "Makefile"))
		if err != nil || !strings.Contains(string(text), "\n"+target+":") {
			p.errorf(b, "make has no target %s (%v)", target, err)
		}
		return ""
	})
}

// run runs a program in the page's directory and returns its output and exit code.
func (p *docPage) run(argv ...string) (out, code string) {
	p.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "CI=", "NO_COLOR=1", "HOME="+p.dir)
	cmd.Env = append(cmd.Env, p.env...)
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return string(text), strings.TrimPrefix(strings.TrimPrefix(cmd.ProcessState.String(), "exit status "), "signal: ")
}

// varying matches the parts of an output that differ between runs: 60 ms may be 1.2 s.
var varying = regexp.MustCompile(`\d+(\.\d+)? ?(ms|s)\b|devel[-0-9a-f]*`)

// spent is where the time of a run went. A busy machine decides whether a summary has it.
var spent = regexp.MustCompile(` \(\d+(\.\d+)? ?(ms|s) [a-z][^()\n]*\)`)

// maskVarying replaces what differs between runs by a sign.
func maskVarying(text, sign string) string {
	return varying.ReplaceAllString(spent.ReplaceAllString(text, ""), sign)
}

// compare compares the output in a page with that of the previous script. A line "…"
// matches any number of lines.
func (p *docPage) compare(b docBlock) {
	masked := func(s string) string {
		lines := strings.Split(strings.TrimSpace(s), "\n")
		for i := range lines {
			lines[i] = strings.TrimRight(maskVarying(lines[i], "N"), " ")
		}
		return strings.Join(lines, "\n")
	}
	want := strings.ReplaceAll("\n"+regexp.QuoteMeta(masked(b.text))+"\n", "\n…\n", "\n(?s:.*\n)?")
	if !regexp.MustCompile(`\A` + want + `\z`).MatchString("\n" + masked(p.printed) + "\n") {
		p.errorf(b, "the page shows\n%s\nand it is\n%s", b.text, p.printed)
	}
}

var (
	topKey = regexp.MustCompile(`(?m)^([A-Za-z_]+):`)
	// suiteKeys are the keys of the language; a block with other keys is not a suite.
	suiteKeys = []string{
		"name", "servers", "default_server", "imports", "variables", "env", "defaultTest", "tools", "resources", "prompts", "protocol",
		"http", "start", "surface", "check", "probe", "hooks", "setup", "setup_per_test", "teardown", "run_options", "coverage", "upstreams",
	}
)

// suite validates a suite, or completes a part of one and validates that.
func (p *docPage) suite(b docBlock) {
	name, ok := b.directive("file")
	if ok && !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml") {
		return
	}
	keys := map[string]bool{}
	for _, m := range topKey.FindAllStringSubmatch(b.text, -1) {
		keys[m[1]] = true
		if !slices.Contains(suiteKeys, m[1]) {
			if !ok {
				p.errorf(b, "this is no part of a suite: say which file it is, or why it is only shown")
			}
			return
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^# env: (\S+=\S+)$`).FindAllStringSubmatch(b.text, -1) {
		p.env = append(p.env, m[1])
	}
	text := b.text
	switch {
	case strings.HasPrefix(text, "- "):
		text = "tools:\n" + regexp.MustCompile("(?m)^").ReplaceAllString(text, "  ")
		keys["tools"] = true
	case len(keys) == 0:
		p.errorf(b, "this is no part of a suite: say which file it is, or why it is only shown")
		return
	}
	if !keys["servers"] && !keys["imports"] {
		text += "\nservers: {api: {command: [mcptest, mock, --preset, echo]}}\n"
	}
	if !ok {
		name = "block.yaml"
		p.write(b, name, text)
	}
	out, code := p.run("mcptest", "validate", name)
	_, refused := b.directive("refused")
	if (code != "0") != refused {
		p.errorf(b, "validate ends with %s:\n%s", code, out)
	}
}
