package cli_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

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
	"base64":      tool.base64,
	"basename":    tool.basename,
	"cat":         tool.cat,
	"chmod":       func(tool) error { return nil },
	"cp":          tool.cp,
	"cut":         tool.cut,
	"dirname":     func(t tool) error { return t.say(filepath.ToSlash(filepath.Dir(t.args[0]))) },
	"end-process": tool.endProcess,
	"env":         tool.envCommand,
	"expr":        tool.expr,
	"find":        tool.find,
	"grep":        tool.grep,
	"head":        tool.head,
	"ls":          tool.ls,
	"mkdir":       func(t tool) error { return t.each(func(p string) error { return os.MkdirAll(p, 0o755) }) },
	"mv":          tool.mv,
	"rm":          func(t tool) error { return t.each(os.RemoveAll) },
	"sed":         tool.sed,
	"seq":         tool.seq,
	"sleep":       tool.sleep,
	"sort":        tool.sort,
	"tail":        tool.tail,
	"timeout":     tool.timeout,
	"touch":       func(t tool) error { return t.each(touch) },
	"tr":          tool.tr,
	"wc":          tool.wc,
	"yes":         tool.yes,
}

// errStatus1 ends a tool with status 1 and no message.
var errStatus1 = errors.New("status 1")

// exitStatus is the status of a program that ended with another than 0.
type exitStatus int

func (s exitStatus) Error() string { return "status " + strconv.Itoa(int(s)) }

func runTool(t tool) int {
	err := posixTools[t.name](t)
	if status, ok := errors.AsType[exitStatus](err); ok {
		return int(status)
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

// say writes a line.
func (t tool) say(line string) error {
	_, err := fmt.Fprintln(t.out, line)
	return err
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
		if name == "/dev/zero" {
			all = append(all, zeros{})
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
	flags, names := t.options()
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
			if e.Name()[0] != '.' || strings.ContainsAny(flags, "aA") {
				fmt.Fprintln(t.out, e.Name())
			}
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
			t.env = env
			return t.start(args, 0)
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
	re, err := grepPattern(flags, rest[0])
	if err != nil {
		return err
	}
	names := rest[1:]
	if len(names) == 0 {
		names = []string{"-"}
	}
	any := false
	for _, name := range names {
		in, err := t.open([]string{name})
		if err != nil {
			if strings.Contains(flags, "s") {
				continue
			}
			return err
		}
		prefix := ""
		if len(names) > 1 && !strings.Contains(flags, "h") {
			prefix = name + ":"
		}
		n, err := t.grepLines(in, re, flags, prefix)
		if err != nil {
			return err
		}
		any = any || n > 0
		switch {
		case strings.Contains(flags, "q"):
		case strings.Contains(flags, "c"):
			t.say(prefix + strconv.Itoa(n))
		case strings.Contains(flags, "l") && n > 0, strings.Contains(flags, "L") && n == 0:
			t.say(name)
		}
	}
	if !any {
		return errStatus1
	}
	return nil
}

func grepPattern(flags, pattern string) (*regexp.Regexp, error) {
	if strings.Contains(flags, "F") {
		pattern = regexp.QuoteMeta(pattern)
	}
	if strings.Contains(flags, "i") {
		pattern = "(?i)" + pattern
	}
	if strings.Contains(flags, "x") {
		pattern = "^(?:" + pattern + ")$"
	}
	return regexp.Compile(pattern)
}

// grepLines counts the lines that match, and prints them unless a flag asks for less.
func (t tool) grepLines(in io.Reader, re *regexp.Regexp, flags, prefix string) (n int, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if re.MatchString(lines.Text()) == strings.Contains(flags, "v") {
			continue
		}
		n++
		switch {
		case strings.ContainsAny(flags, "qclL"):
		case strings.Contains(flags, "o"):
			for _, found := range re.FindAllString(lines.Text(), -1) {
				t.say(prefix + found)
			}
		default:
			t.say(prefix + lines.Text())
		}
	}
	return n, lines.Err()
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

// children are the programs that the shell started and that run.
var children struct {
	sync.Mutex
	running []*exec.Cmd
}

// runChild runs a program that kill ends. A script for the shell is run by the shell.
func runChild(cmd *exec.Cmd) int {
	children.Lock()
	err := cmd.Start()
	if err == nil {
		children.running = append(children.running, cmd)
	}
	children.Unlock()
	if err == nil {
		err = cmd.Wait()
		children.Lock()
		children.running = slices.DeleteFunc(children.running, func(c *exec.Cmd) bool { return c == cmd })
		children.Unlock()
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(cmd.Stderr, err)
		return 127
	}
	return 0
}

// start runs a program, for a time if limit is not 0.
func (t tool) start(args []string, limit time.Duration) error {
	path, err := exec.LookPath(args[0])
	if err != nil {
		fmt.Fprintln(t.err, err)
		return exitStatus(127)
	}
	cmd := exec.Command(path, args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = t.dir, t.env, t.in, t.out, t.err
	if limit > 0 {
		over := time.AfterFunc(limit, func() { endChild(cmd) })
		defer over.Stop()
	}
	if code := runChild(cmd); code != 0 {
		return exitStatus(code)
	}
	return nil
}

func endChild(cmd *exec.Cmd) {
	children.Lock()
	defer children.Unlock()
	if slices.Contains(children.running, cmd) {
		cmd.Process.Kill()
	}
}

// endProcess is kill: of a process by its number, and of all programs in the background
// for what the shell calls $! and %1. The signal does not matter, except that 0 is none.
func (t tool) endProcess() error {
	isTest := false
	for _, arg := range t.args {
		if strings.HasPrefix(arg, "-") {
			isTest = isTest || arg == "-0"
			continue
		}
		number, err := strconv.Atoi(arg)
		if err != nil {
			children.Lock()
			for _, cmd := range children.running {
				cmd.Process.Kill()
			}
			children.Unlock()
			continue
		}
		if !lives(number) {
			return errStatus1
		}
		if process, err := os.FindProcess(number); err == nil && !isTest {
			process.Kill()
		}
	}
	return nil
}

func (t tool) timeout() error {
	seconds, err := strconv.ParseFloat(t.args[0], 64)
	if err != nil {
		return err
	}
	return t.start(t.args[1:], time.Duration(seconds*float64(time.Second)))
}

func (t tool) base64() error {
	all, err := io.ReadAll(t.in)
	if err != nil {
		return err
	}
	return t.say(base64.StdEncoding.EncodeToString(all))
}

func (t tool) basename() error {
	name := filepath.Base(t.args[0])
	if len(t.args) > 1 {
		name = strings.TrimSuffix(name, t.args[1])
	}
	return t.say(name)
}

// cut is cut -d C -f N.
func (t tool) cut() error {
	delimiter, field := "\t", 1
	args := t.args
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && len(args[0]) > 1 {
		value := args[0][2:]
		option := args[0][1]
		args = args[1:]
		if value == "" && len(args) > 0 {
			value, args = args[0], args[1:]
		}
		switch option {
		case 'd':
			delimiter = value
		case 'f':
			var err error
			if field, err = strconv.Atoi(value); err != nil {
				return err
			}
		default:
			return fmt.Errorf("unknown option -%c", option)
		}
	}
	in, err := t.open(args)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), delimiter)
		switch {
		case len(fields) == 1:
			t.say(lines.Text())
		case field > len(fields):
			t.say("")
		default:
			t.say(fields[field-1])
		}
	}
	return lines.Err()
}

// expr is expr TEXT : PATTERN.
func (t tool) expr() error {
	if len(t.args) != 3 || t.args[1] != ":" {
		return errors.New("only TEXT : PATTERN is known")
	}
	re, err := posixPattern("^"+t.args[2], false)
	if err != nil {
		return err
	}
	found := re.FindStringSubmatch(t.args[0])
	switch {
	case found == nil:
		t.say("")
		return errStatus1
	case len(found) > 1:
		return t.say(found[1])
	}
	return t.say(strconv.Itoa(len(found[0])))
}

// find is find FOLDER with -name and -type.
func (t tool) find() error {
	folder, args := ".", t.args
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		folder, args = args[0], args[1:]
	}
	name, kind := "*", ""
	for len(args) > 1 {
		switch args[0] {
		case "-name":
			name = args[1]
		case "-type":
			kind = args[1]
		default:
			return fmt.Errorf("unknown option %s", args[0])
		}
		args = args[2:]
	}
	return filepath.WalkDir(t.path(folder), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(t.path(folder), path)
		if err != nil {
			return err
		}
		fits, err := filepath.Match(name, e.Name())
		if fits && (kind == "" || (kind == "d") == e.IsDir()) {
			t.say(filepath.ToSlash(folder + "/" + rest))
		}
		return err
	})
}

// seq is seq [FIRST] LAST.
func (t tool) seq() error {
	first := 1
	last, err := strconv.Atoi(t.args[len(t.args)-1])
	if err == nil && len(t.args) > 1 {
		first, err = strconv.Atoi(t.args[0])
	}
	for i := first; i <= last && err == nil; i++ {
		t.say(strconv.Itoa(i))
	}
	return err
}

func (t tool) sort() error {
	flags, names := t.options()
	in, err := t.open(names)
	if err != nil {
		return err
	}
	all, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(string(all), "\n"), "\n")
	slices.Sort(lines)
	if strings.Contains(flags, "u") {
		lines = slices.Compact(lines)
	}
	if strings.Contains(flags, "r") {
		slices.Reverse(lines)
	}
	return t.say(strings.Join(lines, "\n"))
}

// tr is tr A B and tr -d A. B is made as long as A.
func (t tool) tr() error {
	escapes := strings.NewReplacer(`\0`, "\x00", `\n`, "\n", `\r`, "\r", `\t`, "\t")
	from, to := t.args[0], t.args[1]
	isDelete := from == "-d"
	if isDelete {
		from, to = to, ""
	}
	set, with := spread(escapes.Replace(from)), spread(escapes.Replace(to))
	in := bufio.NewReader(t.in)
	out := bufio.NewWriter(t.out)
	for {
		c, err := in.ReadByte()
		if err != nil {
			return out.Flush()
		}
		at := strings.IndexByte(set, c)
		switch {
		case at < 0:
			out.WriteByte(c)
		case !isDelete:
			out.WriteByte(with[min(at, len(with)-1)])
		}
	}
}

// spread writes ranges such as a-z with all characters.
func spread(set string) string {
	var b strings.Builder
	for i := 0; i < len(set); i++ {
		if i+2 < len(set) && set[i+1] == '-' {
			for c := int(set[i]); c <= int(set[i+2]); c++ {
				b.WriteByte(byte(c))
			}
			i += 2
			continue
		}
		b.WriteByte(set[i])
	}
	return b.String()
}

// yes writes a word until nobody reads it.
func (t tool) yes() error {
	word := "y"
	if len(t.args) > 0 {
		word = t.args[0]
	}
	block := strings.Repeat(word+"\n", 1000)
	for {
		if _, err := io.WriteString(t.out, block); err != nil {
			return nil
		}
	}
}
