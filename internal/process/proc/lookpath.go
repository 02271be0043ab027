package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unicode/utf16"

	"mcptest/internal/base/source"
)

// StartError reports why a program could not be started, and where it was searched
// for.
type StartError struct {
	Program string   // as written, Argv[0]
	Looked  []string // the searched places
	Msg     string   // "not found in PATH"
	Hint    string   // may be ""
	Err     error
}

func (e *StartError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cannot start %q: %s", e.Program, e.Msg)
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

func (e *StartError) Unwrap() error { return e.Err }

// command resolves the program and returns the exec.Cmd.
func command(s Spec) (*exec.Cmd, error) {
	fail := &StartError{}
	if len(s.Argv) == 0 || s.Argv[0] == "" {
		fail.Msg = "no program is named"
		return nil, fail
	}
	fail.Program = s.Argv[0]
	for _, text := range slices.Concat(s.Argv, s.Env, []string{s.Dir}) {
		if strings.IndexByte(text, 0) >= 0 {
			fail.Msg = "an argument, an environment variable or the directory holds a NUL byte"
			return nil, fail
		}
	}
	for _, e := range s.Env {
		if strings.IndexByte(e, '=') <= 0 && runtime.GOOS != "windows" {
			fail.Msg = fmt.Sprintf("environment entry %q is not NAME=value", e)
			return nil, fail
		}
	}
	dir, err := workDir(s.Dir)
	if err != nil {
		fail.Msg = "its working directory " + err.Error()
		return nil, fail
	}
	env := s.Env
	if env == nil {
		env = os.Environ()
	}
	path := find(fail, dir, env)
	if path == "" {
		return nil, fail
	}
	cmd := &exec.Cmd{
		Path:        path,
		Args:        slices.Clone(s.Argv),
		Dir:         dir,
		Env:         withPWD(env, dir),
		SysProcAttr: sessionAttr(),
	}
	if err := EscapeBatch(cmd); err != nil {
		fail.Msg = err.Error()
		return nil, fail
	}
	if s.Change != nil {
		s.Change(cmd)
	}
	return cmd, nil
}

// workDir returns the directory as an absolute path, or "" for that of the runner.
func workDir(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	st, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s does not exist", abs)
	case err != nil:
		return "", fmt.Errorf("cannot be used: %w", err)
	case !st.IsDir():
		return "", fmt.Errorf("%s is not a directory", abs)
	case runtime.GOOS == "windows" && len(utf16.Encode([]rune(abs))) > longestWindowsDir:
		return "", fmt.Errorf("has %d characters, and Windows starts programs in folders of at most %d: use a shorter path, such as a drive letter (subst X: FOLDER)", len([]rune(abs)), longestWindowsDir)
	}
	return abs, nil
}

// withPWD updates PWD in an environment that contains it.
func withPWD(env []string, dir string) []string {
	if dir == "" || runtime.GOOS == "windows" {
		return env
	}
	out := slices.Clone(env)
	for i, e := range out {
		if strings.HasPrefix(e, "PWD=") {
			out[i] = "PWD=" + dir
		}
	}
	return out
}

// find searches for the program; if it fails, it sets the fields of fail and returns
// "".
func find(fail *StartError, dir string, env []string) string {
	name := fail.Program
	if name == filepath.Base(name) && name != "." && name != ".." {
		return findInPath(fail, dir, env)
	}
	full := name
	if !filepath.IsAbs(name) {
		full = filepath.Join(orCwd(dir), name)
	}
	fail.Looked = []string{full}
	if path, err := exec.LookPath(full); err == nil {
		return path
	}
	fail.Msg, fail.Hint = whyNot(full)
	if first, _, _ := strings.Cut(name, " "); !strings.ContainsAny(first, `/\`) { // node ./server.js, but not /opt/my server
		if fail.Hint == "" {
			fail.Hint = hintFor(name, dir)
		}
	}
	if strings.HasPrefix(name, "~") {
		fail.Hint = "~ means a home folder only in a shell; write the path out, or ${HOME} in a suite"
	}
	return ""
}

func orCwd(dir string) string {
	if dir != "" {
		return dir
	}
	wd, err := os.Getwd()
	if err != nil {
		return "."
	}
	return wd
}

func findInPath(fail *StartError, dir string, env []string) string {
	list, found := "", false
	for _, e := range env { // the last one counts, as in os/exec
		k, v, _ := strings.Cut(e, "=")
		if k == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(k, "PATH") {
			list, found = v, true
		}
	}
	denied := ""
	for _, d := range filepath.SplitList(list) {
		if !filepath.IsAbs(d) {
			d = filepath.Join(orCwd(dir), d)
		}
		full := filepath.Join(d, fail.Program)
		path, err := exec.LookPath(full)
		if err == nil {
			return path
		}
		if errors.Is(err, fs.ErrPermission) && denied == "" {
			denied = full
		}
		fail.Looked = append(fail.Looked, d)
	}
	switch {
	case denied != "":
		fail.Msg, fail.Hint = whyNot(denied)
	case !found || list == "":
		fail.Msg = "it has no PATH to look in"
		fail.Hint = "its environment sets no PATH"
	default:
		fail.Msg = "not found in PATH"
		if fail.Hint = hintFor(fail.Program, dir); fail.Hint == "" {
			fail.Msg += source.Parenthesis(source.DidYouMean(fail.Program, programs(fail.Looked)))
		}
	}
	return ""
}

// programExtensions are those of the files that Windows starts.
var programExtensions = []string{".exe", ".com", ".cmd", ".bat"}

// programs returns the names of the files in folders, as commands have them: on Windows
// without the extension of a program.
func programs(folders []string) (names []string) {
	for _, dir := range folders {
		files, _ := os.ReadDir(dir) // a folder of PATH need not exist
		for _, f := range files {
			name := f.Name()
			ext := filepath.Ext(name)
			if runtime.GOOS == "windows" && slices.Contains(programExtensions, strings.ToLower(ext)) {
				name = strings.TrimSuffix(name, ext)
			}
			names = append(names, name)
		}
	}
	return names
}

func hintFor(program, dir string) string {
	if first, rest, ok := strings.Cut(program, " "); ok {
		return fmt.Sprintf("the whole text, with its spaces, is the program's name; write a list with one item for each argument: [%s]", strings.Join(append([]string{first}, strings.Fields(rest)...), ", "))
	}
	if runtime.GOOS == "windows" {
		if hint := windowsCommandHint(program); hint != "" {
			return hint
		}
	} else if slices.Contains(shellOnly, program) {
		return fmt.Sprintf("%s is a command of the shell, not a program; write bash -c '%s …'", program, program)
	}
	if st, err := os.Stat(filepath.Join(orCwd(dir), program)); err == nil && !st.IsDir() {
		return fmt.Sprintf("there is a file of that name in %s; write ./%s", orCwd(dir), program)
	}
	return ""
}

// whyNot explains why the file at path cannot be executed.
func whyNot(path string) (msg, hint string) {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no file " + path, ""
	case err != nil:
		return err.Error(), ""
	case st.IsDir():
		return path + " is a directory", ""
	}
	if runtime.GOOS == "windows" {
		return path + " is no program that Windows starts", windowsFileHint(path)
	}
	return path + " is not executable", "chmod +x " + path
}

// spawnError explains why the system cannot start an existing file.
func spawnError(s Spec, cmd *exec.Cmd, err error) *StartError {
	e := &StartError{Program: s.Argv[0], Looked: []string{cmd.Path}, Msg: "the system refused " + cmd.Path, Err: err}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		e.Err = errno
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Err = nil
		e.Msg = cmd.Path + " exists, but the program that runs it does not"
		if line := interpreter(cmd.Path); line != "" {
			e.Msg += ": " + strings.TrimSuffix(line, "\r")
			e.Hint = "correct the first line of the file"
			if strings.HasSuffix(line, "\r") {
				e.Msg += `\r: the file has Windows line endings`
				e.Hint = "save it with plain line feeds: sed -i 's/\\r$//' " + s.Argv[0]
			}
		}
	case errors.Is(err, errNoExec) && runtime.GOOS == "windows":
		e.Msg, e.Err = cmd.Path+" is no program that Windows starts", nil
		e.Hint = windowsFileHint(cmd.Path)
	case errors.Is(err, errNoExec):
		e.Msg, e.Err = cmd.Path+" is neither a program for this system nor a script with a #! line", nil
		e.Hint = "begin the script with a line such as #!/bin/sh"
	}
	return e
}

// interpreter returns the interpreter in the first line of a script, including a
// carriage return at its end.
func interpreter(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	buf := make([]byte, 256)
	n, _ := f.Read(buf)
	line, _, _ := strings.Cut(string(buf[:n]), "\n")
	if rest, ok := strings.CutPrefix(line, "#!"); ok {
		return strings.TrimLeft(rest, " \t")
	}
	return ""
}
