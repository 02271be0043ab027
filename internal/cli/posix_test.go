package cli_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// addStandIns puts stand-ins for a POSIX shell and the programs that scripts start most next
// to the programs under test on Windows, which has none of them. Elsewhere scripts run with
// the real ones. They are no commands of testscript, which has its own grep and env.
func addStandIns() error {
	if runtime.GOOS != "windows" {
		return nil
	}
	program, err := exec.LookPath("mcptest")
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, name := range append(slices.Sorted(maps.Keys(posixTools)), "sh", "bash") {
		if err := copyProgram(self, filepath.Join(filepath.Dir(program), name+".exe")); err != nil {
			return err
		}
	}
	return nil
}

// runStandIn runs the stand-in whose name this program was started with, if it is one.
func runStandIn() bool {
	if runtime.GOOS != "windows" {
		return false
	}
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(os.Args[0])), ".exe")
	if name == "sh" || name == "bash" {
		shMain()
		return true
	}
	if _, known := posixTools[name]; !known {
		return false
	}
	os.Exit(runTool(toolOf(name, os.Args[1:])))
	return true
}

// shMain is sh -c TEXT, sh FILE and sh with its program on standard input.
func shMain() {
	args := os.Args[1:]
	for len(args) > 1 && (args[0] == "-e" || args[0] == "-u" || args[0] == "-eu") {
		args = args[1:]
	}
	var text io.Reader = os.Stdin
	name := "sh"
	switch {
	case len(args) > 1 && (args[0] == "-c" || args[0] == "-ec"):
		text, args = strings.NewReader(args[1]), args[2:]
		if len(args) > 0 {
			name, args = args[0], args[1:]
		}
	case len(args) > 0 && args[0] != "-s":
		file, err := os.ReadFile(args[0])
		if err != nil {
			fmt.Fprintln(os.Stderr, "sh:", err)
			os.Exit(127)
		}
		text, name, args = bytes.NewReader(file), args[0], args[1:]
	}
	os.Exit(runShell(text, name, args))
}

func runShell(text io.Reader, name string, args []string) int {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(text, name)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sh:", err)
		return 2
	}
	runner, err := interp.New(
		interp.StdIO(os.Stdin, os.Stdout, os.Stderr),
		interp.Params(append([]string{"--"}, args...)...),
		interp.Env(expand.ListEnviron(os.Environ()...)),
		interp.ExecHandlers(execTool))
	if err != nil {
		fmt.Fprintln(os.Stderr, "sh:", err)
		return 2
	}
	err = runner.Run(context.Background(), file)
	if status, ok := errors.AsType[interp.ExitStatus](err); ok {
		return int(status)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sh:", err)
		return 1
	}
	return 0
}

// execTool runs the tools inside of the shell, and starts other programs.
func execTool(next interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	return func(ctx context.Context, args []string) error {
		if _, known := posixTools[args[0]]; !known {
			return next(ctx, args)
		}
		h := interp.HandlerCtx(ctx)
		t := tool{name: args[0], args: args[1:], dir: h.Dir, in: h.Stdin, out: h.Stdout, err: h.Stderr}
		if h.Stdin == nil {
			t.in = strings.NewReader("")
		}
		h.Env.Each(func(name string, v expand.Variable) bool {
			if v.Exported && v.IsSet() {
				t.env = append(t.env, name+"="+v.String())
			}
			return true
		})
		if code := runTool(t); code != 0 {
			return interp.ExitStatus(code)
		}
		return nil
	}
}

// tool is one start of a tool.
type tool struct {
	name     string
	args     []string
	dir      string
	env      []string
	in       io.Reader
	out, err io.Writer
}

func toolOf(name string, args []string) tool {
	dir, _ := os.Getwd() // "" is the same folder
	return tool{name: name, args: args, dir: dir, env: os.Environ(), in: os.Stdin, out: os.Stdout, err: os.Stderr}
}

// posixTools are the tools, with the options that scripts use.
var posixTools = map[string]func(t tool) error{
	"cat":   tool.cat,
	"cp":    tool.cp,
	"env":   tool.envCommand,
	"grep":  tool.grep,
	"head":  tool.head,
	"ls":    tool.ls,
	"mkdir": func(t tool) error { return t.each(func(p string) error { return os.MkdirAll(p, 0o755) }) },
	"mv":    tool.mv,
	"rm":    func(t tool) error { return t.each(os.RemoveAll) },
	"sleep": tool.sleep,
	"tail":  tool.tail,
	"touch": func(t tool) error { return t.each(touch) },
	"wc":    tool.wc,
	"chmod": func(tool) error { return nil },
}

// errStatus1 ends a tool with status 1 and no message.
var errStatus1 = errors.New("status 1")

func runTool(t tool) int {
	err := posixTools[t.name](t)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil && !errors.Is(err, errStatus1) {
		fmt.Fprintf(t.err, "%s: %v\n", t.name, err)
	}
	if err != nil {
		return 1
	}
	return 0
}

// options splits the arguments at the first that is no option.
func (t tool) options() (flags string, rest []string) {
	for i, a := range t.args {
		if a == "--" {
			return flags, t.args[i+1:]
		}
		if len(a) < 2 || a[0] != '-' {
			return flags, t.args[i:]
		}
		flags += a[1:]
	}
	return flags, nil
}

func (t tool) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(t.dir, name)
}

// each does something with each file.
func (t tool) each(do func(path string) error) error {
	_, names := t.options()
	for _, name := range names {
		if err := do(t.path(name)); err != nil {
			return err
		}
	}
	return nil
}

func touch(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	now := time.Now()
	return errors.Join(f.Close(), os.Chtimes(path, now, now))
}

// open returns the files, or the input, as one reader.
func (t tool) open(names []string) (io.Reader, error) {
	if len(names) == 0 {
		return t.in, nil
	}
	var all []io.Reader
	for _, name := range names {
		if name == "-" {
			all = append(all, t.in)
			continue
		}
		data, err := os.ReadFile(t.path(name))
		if err != nil {
			return nil, err
		}
		all = append(all, bytes.NewReader(data))
	}
	return io.MultiReader(all...), nil
}

func (t tool) cat() error {
	_, names := t.options()
	in, err := t.open(names)
	if err != nil {
		return err
	}
	_, err = io.Copy(t.out, in)
	return err
}

func (t tool) cp() error {
	_, names := t.options()
	to := t.path(names[len(names)-1])
	info, err := os.Stat(to)
	isDir := err == nil && info.IsDir()
	for _, name := range names[:len(names)-1] {
		target := to
		if isDir {
			target = filepath.Join(to, filepath.Base(name))
		}
		data, err := os.ReadFile(t.path(name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(target, data, 0o755); err != nil {
			return err
		}
	}
	return nil
}

func (t tool) mv() error {
	_, names := t.options()
	return os.Rename(t.path(names[0]), t.path(names[len(names)-1]))
}

func (t tool) ls() error {
	_, names := t.options()
	if len(names) == 0 {
		names = []string{"."}
	}
	for _, name := range names {
		list, err := os.ReadDir(t.path(name))
		if err != nil {
			if _, err := os.Stat(t.path(name)); err != nil {
				return err
			}
			fmt.Fprintln(t.out, name)
			continue
		}
		for _, e := range list {
			fmt.Fprintln(t.out, e.Name())
		}
	}
	return nil
}

func (t tool) sleep() error {
	seconds, err := strconv.ParseFloat(t.args[0], 64)
	if err != nil {
		return err
	}
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	return nil
}

// envCommand is env with NAME=value and -u NAME.
func (t tool) envCommand() error {
	args, env := t.args, t.env
	for len(args) > 0 {
		name, _, isPair := strings.Cut(args[0], "=")
		switch {
		case isPair:
			env, args = append(env, args[0]), args[1:]
		case args[0] == "-u" && len(args) > 1:
			name = args[1]
			env = slices.DeleteFunc(slices.Clone(env), func(e string) bool { return strings.HasPrefix(e, name+"=") })
			args = args[2:]
		default:
			path, err := exec.LookPath(args[0])
			if err != nil {
				return err
			}
			cmd := exec.Command(path, args[1:]...)
			cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = t.dir, env, t.in, t.out, t.err
			return cmd.Run()
		}
	}
	for _, e := range env {
		fmt.Fprintln(t.out, e)
	}
	return nil
}

func (t tool) grep() error {
	flags, rest := t.options()
	if len(rest) == 0 {
		return errors.New("no pattern")
	}
	pattern := rest[0]
	if strings.Contains(flags, "F") {
		pattern = regexp.QuoteMeta(pattern)
	}
	if strings.Contains(flags, "i") {
		pattern = "(?i)" + pattern
	}
	if strings.Contains(flags, "x") {
		pattern = "^(?:" + pattern + ")$"
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	in, err := t.open(rest[1:])
	if err != nil {
		return err
	}
	n := 0
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if re.MatchString(lines.Text()) == strings.Contains(flags, "v") {
			continue
		}
		n++
		switch {
		case strings.Contains(flags, "q"):
			return nil
		case strings.Contains(flags, "c"):
		case strings.Contains(flags, "o"):
			for _, found := range re.FindAllString(lines.Text(), -1) {
				fmt.Fprintln(t.out, found)
			}
		default:
			fmt.Fprintln(t.out, lines.Text())
		}
	}
	if strings.Contains(flags, "c") {
		fmt.Fprintln(t.out, n)
	}
	if n == 0 {
		return errStatus1
	}
	return lines.Err()
}

// count reads -n N, -N and -c N.
func (t tool) count() (n int, bytes bool, names []string, err error) {
	n, names = 10, t.args
	for len(names) > 0 && strings.HasPrefix(names[0], "-") && names[0] != "-" {
		number := strings.TrimLeft(names[0], "-nc")
		bytes = bytes || strings.HasPrefix(names[0], "-c")
		names = names[1:]
		if number == "" && len(names) > 0 {
			number, names = names[0], names[1:]
		}
		if n, err = strconv.Atoi(strings.TrimPrefix(number, "+")); err != nil {
			return 0, false, nil, err
		}
	}
	return n, bytes, names, nil
}

func (t tool) head() error {
	n, inBytes, names, err := t.count()
	if err != nil {
		return err
	}
	in, err := t.open(names)
	if err != nil {
		return err
	}
	if inBytes {
		_, err = io.CopyN(t.out, in, int64(n))
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return err
	}
	lines := bufio.NewReader(in)
	for range n {
		line, err := lines.ReadString('\n')
		io.WriteString(t.out, line)
		if err != nil {
			return nil
		}
	}
	return nil
}

func (t tool) tail() error {
	n, inBytes, names, err := t.count()
	if err != nil {
		return err
	}
	in, err := t.open(names)
	if err != nil {
		return err
	}
	all, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if inBytes {
		_, err = t.out.Write(all[max(0, len(all)-n):])
		return err
	}
	lines := strings.SplitAfter(string(all), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	_, err = io.WriteString(t.out, strings.Join(lines[max(0, len(lines)-n):], ""))
	return err
}

func (t tool) wc() error {
	flags, names := t.options()
	in, err := t.open(names)
	if err != nil {
		return err
	}
	all, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	counts := map[string]int{"c": len(all), "l": bytes.Count(all, []byte("\n")), "w": len(bytes.Fields(all))}
	n, known := counts[cmp.Or(flags, "l")]
	if !known {
		return fmt.Errorf("options are %s", slices.Sorted(maps.Keys(counts)))
	}
	fmt.Fprintln(t.out, n)
	return nil
}
