package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// shellTools are programs that the stand-in of the shell has built in.
var shellTools = []string{"echo", "false", "printf", "test", "true"}

// hiddenScripts is the folder, in that of a script, with the texts of the files that are
// stand-ins of programs: see standInForFiles.
const hiddenScripts = ".scripts"

// addStandIns puts stand-ins for a POSIX shell and the programs that scripts start most next
// to the programs under test on Windows, which has none of them. Elsewhere scripts run with
// the real ones. They are no commands of testscript, which has its own grep and env.
func addStandIns() error {
	if runtime.GOOS != "windows" {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	program, err := exec.LookPath("mcptest")
	if err != nil {
		return err
	}
	folder := filepath.Dir(program)
	if err := copyProgram(self, filepath.Join(folder, "sh.exe")); err != nil {
		return err
	}
	names := slices.Concat(slices.Collect(maps.Keys(posixTools)), shellTools, slices.Collect(maps.Keys(commands())), []string{"bash"})
	for _, name := range names {
		path := filepath.Join(folder, name+".exe")
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if err := linkStandIn(path); err != nil {
			return err
		}
	}
	return nil
}

// linkStandIn gives this program another name. A copy has 40 MB.
func linkStandIn(path string) error {
	shell, err := exec.LookPath("sh")
	if err != nil {
		return err
	}
	if err := os.Link(shell, path); err == nil {
		return nil
	}
	return copyProgram(shell, path)
}

// standInForFiles replaces the files of a script that begin with #! by programs that run
// their text, on Windows, which starts programs only. A file whose name has no extension
// is kept, and has the program next to it.
func standInForFiles(folder string) error {
	if runtime.GOOS != "windows" {
		return nil
	}
	var files []string
	err := filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	for _, path := range files {
		text, readErr := os.ReadFile(path)
		if readErr != nil || !bytes.HasPrefix(text, []byte("#!")) {
			err = errors.Join(err, readErr)
			continue
		}
		name, relErr := filepath.Rel(folder, path)
		hidden := filepath.Join(folder, hiddenScripts, name)
		if filepath.Ext(path) == "" {
			path, hidden = path+".exe", hidden+".exe"
		} else if removeErr := os.Remove(path); removeErr != nil {
			return removeErr
		}
		err = errors.Join(err, relErr, os.MkdirAll(filepath.Dir(hidden), 0o755), os.WriteFile(hidden, text, 0o644), linkStandIn(path))
	}
	return err
}

// hiddenScript returns the text of a file for which standInForFiles put a program.
func hiddenScript(path string) (text []byte, found bool) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, false
	}
	for folder := filepath.Dir(path); folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return nil, false
		}
		if text, err := os.ReadFile(filepath.Join(folder, hiddenScripts, name)); err == nil {
			return text, true
		}
	}
	return nil, false
}

// runStandIn runs the stand-in whose name this program was started with, if it is one.
func runStandIn() bool {
	if runtime.GOOS != "windows" {
		return false
	}
	self, err := os.Executable()
	if err != nil {
		return false
	}
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(self)), ".exe")
	if name == "sh" || name == "bash" {
		shMain()
		return true
	}
	if slices.Contains(shellTools, name) {
		os.Exit(runShell(strings.NewReader(name+` "$@"`), name, os.Args[1:], nil))
	}
	if _, known := posixTools[name]; known {
		os.Exit(runTool(toolOf(name, os.Args[1:])))
	}
	if run, known := commands()[name]; known {
		run()
		os.Exit(0)
	}
	if text, found := hiddenScript(self); found {
		os.Exit(runScript(text, self, os.Args[1:]))
	}
	return false
}

// runScript runs a file that begins with #!.
func runScript(text []byte, path string, args []string) int {
	first, _, _ := strings.Cut(string(text), "\n")
	words := strings.Fields(strings.TrimPrefix(first, "#!"))
	for len(words) > 1 && (filepath.Base(words[0]) == "env" || words[0] == "-S") {
		words = words[1:]
	}
	if program := filepath.Base(words[0]); program != "sh" && program != "bash" {
		file := filepath.Join(os.TempDir(), fmt.Sprintf("script-%d-%s", os.Getpid(), strings.TrimSuffix(filepath.Base(path), ".exe")))
		if err := os.WriteFile(file, text, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.Remove(file)
		return runTool(toolOf("env", append(append([]string{program}, words[1:]...), append([]string{file}, args...)...)))
	}
	return runShell(bytes.NewReader(text), strings.TrimSuffix(path, ".exe"), args, words[1:])
}

// shMain is sh -c TEXT, sh FILE and sh with its program on standard input.
func shMain() {
	args := os.Args[1:]
	var options []string
	for len(args) > 0 && len(args[0]) > 1 && strings.Trim(args[0][1:], "eux") == "" && args[0][0] == '-' {
		options, args = append(options, args[0]), args[1:]
	}
	var text io.Reader = os.Stdin
	name := "sh"
	switch {
	case len(args) > 1 && (args[0] == "-c" || args[0] == "-ec"):
		if args[0] == "-ec" {
			options = append(options, "-e")
		}
		text, args = strings.NewReader(args[1]), args[2:]
		if len(args) > 0 {
			name, args = args[0], args[1:]
		}
	case len(args) > 0 && args[0] != "-s":
		file, found := hiddenScript(args[0])
		if !found {
			var err error
			if file, err = os.ReadFile(args[0]); err != nil {
				fmt.Fprintln(os.Stderr, "sh:", err)
				os.Exit(127)
			}
		}
		text, name, args = bytes.NewReader(file), args[0], args[1:]
	}
	os.Exit(runShell(text, name, args, options))
}

func runShell(text io.Reader, name string, args, options []string) int {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(text, name)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sh:", err)
		return 2
	}
	runner, err := interp.New(
		interp.StdIO(os.Stdin, os.Stdout, os.Stderr),
		interp.Params(slices.Concat(options, []string{"--"}, args)...),
		interp.Env(expand.ListEnviron(os.Environ()...)),
		interp.CallHandler(replaceBuiltin),
		interp.OpenHandler(openZeros),
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

// replaceBuiltin makes trap ignore the signals that Windows does not have, and kill a tool.
func replaceBuiltin(_ context.Context, args []string) ([]string, error) {
	switch args[0] {
	case "trap":
		signals := args[min(2, len(args)):]
		if len(signals) > 0 && !slices.Contains(signals, "EXIT") && !slices.Contains(signals, "0") {
			return []string{"true"}, nil
		}
		if len(signals) > 0 {
			return []string{"trap", args[1], "EXIT"}, nil
		}
	case "kill":
		return append([]string{"end-process"}, args[1:]...), nil
	}
	return args, nil
}

// openZeros opens /dev/zero, which Windows does not have.
func openZeros(ctx context.Context, path string, flag int, perm os.FileMode) (io.ReadWriteCloser, error) {
	if path == "/dev/zero" {
		return zeros{}, nil
	}
	return interp.DefaultOpenHandler()(ctx, path, flag, perm)
}

// zeros is /dev/zero.
type zeros struct{}

func (zeros) Read(p []byte) (int, error)  { clear(p); return len(p), nil }
func (zeros) Write(p []byte) (int, error) { return len(p), nil }
func (zeros) Close() error                { return nil }

// execTool runs the tools inside of the shell, and starts other programs.
func execTool(interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	return func(ctx context.Context, args []string) error {
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
		if _, known := posixTools[args[0]]; known {
			return statusError(runTool(t))
		}
		path, err := interp.LookPathDir(h.Dir, h.Env, args[0])
		if err != nil {
			fmt.Fprintln(h.Stderr, err)
			return interp.ExitStatus(127)
		}
		cmd := exec.CommandContext(ctx, path)
		cmd.Args, cmd.Env, cmd.Dir = args, t.env, t.dir
		cmd.Stdin, cmd.Stdout, cmd.Stderr = h.Stdin, h.Stdout, h.Stderr
		return statusError(runChild(cmd))
	}
}

func statusError(code int) error {
	if code == 0 {
		return nil
	}
	return interp.ExitStatus(code)
}
