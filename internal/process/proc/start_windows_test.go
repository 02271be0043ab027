package proc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"mcptest/internal/process/proc"

	"golang.org/x/sys/windows"
)

// helperVariable makes the test binary one of the programs that the tests start.
const helperVariable = "PROC_TEST_HELPER"

func TestMain(m *testing.M) {
	if helper := os.Getenv(helperVariable); helper != "" {
		runHelper(helper, os.Args[1:])
		return
	}
	os.Exit(m.Run())
}

func runHelper(helper string, args []string) {
	switch helper {
	case "args":
		json.NewEncoder(os.Stdout).Encode(args)
	case "sleep":
		time.Sleep(time.Hour)
	case "leave": // starts the program args[0], which stays, and ends
		child := exec.Command(args[0])
		child.Env = append(os.Environ(), helperVariable+"=sleep")
		if err := child.Start(); err != nil {
			panic(err)
		}
	case "parent": // leaves a child and stays
		runHelper("leave", args)
		io.Copy(io.Discard, os.Stdin)
	case "runner": // starts the program args[0] as a parent of args[1], and is killed
		spec := proc.Spec{Argv: args, Env: append(os.Environ(), helperVariable+"=parent"), PipeStdin: true}
		fmt.Println("starting")
		if _, err := proc.Start(context.Background(), spec); err != nil {
			panic(err)
		}
		fmt.Println("started")
		time.Sleep(time.Hour)
	}
}

// helperCopy returns a test binary with a name of its own, so that the table of processes
// shows it.
func helperCopy(t *testing.T, name string) string {
	t.Helper()
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, self, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// count returns how many processes have the name of a program.
func count(t *testing.T, name string) (n int) {
	t.Helper()
	snap, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer windows.CloseHandle(snap)
	e := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snap, &e); err == nil; err = windows.Process32Next(snap, &e) {
		if strings.EqualFold(windows.UTF16ToString(e.ExeFile[:]), name) {
			n++
		}
	}
	return n
}

// awaitNone fails unless the processes of a name end.
func awaitNone(t *testing.T, name string) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for count(t, name) > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("%d processes %s remain", count(t, name), name)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// harmful are arguments that cmd.exe would read as commands, operators or variables.
var harmful = []string{
	"plain", "two words", "", "pkg@^1.2.0", "http://h/?a=1&b=2", "a|b", "a>b", "<in", "(x)",
	"--key=value", "a;b,c", "it's", "!x!", "ä", `C:\folder\`, `C:\my folder\`,
	"x & echo > canary.txt", "& echo > canary.txt", "%SystemRoot%", "100%", "%", "%%", "%1", "%*",
}

// withQuotes are the same, and contain a double quote. Node.js and Python read "" as one;
// Go's runtime does it by an older rule, and splits them.
var withQuotes = []string{
	`say "hi"`, `{"a":"b & c"}`, `" & echo > canary.txt & "`, `\" & echo > canary.txt`, `"%SystemRoot%`, `"`, `""`,
}

// A batch file, and the program that it starts with %*, get every argument unchanged, and
// nothing in an argument is run.
func TestBatchFileReceivesArguments(t *testing.T) {
	checkArguments(t, fmt.Sprintf("\"%s\"", os.Args[0]), harmful)
}

func TestBatchFileReceivesQuotes(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("needs node in PATH")
	}
	checkArguments(t, `node -p "JSON.stringify(process.argv.slice(1))" --`, slices.Concat(harmful, withQuotes))
}

// checkArguments runs a batch file that runs a program with %*, which prints its arguments
// as JSON.
func checkArguments(t *testing.T, program string, args []string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a folder & more")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "args.cmd")
	if err := os.WriteFile(script, []byte("@echo off\r\n"+program+" %*\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := proc.Run(t.Context(), proc.Spec{
		Argv: append([]string{script}, args...),
		Env:  append(os.Environ(), helperVariable+"=args"),
		Dir:  dir,
	})
	var got []string
	if err := json.Unmarshal(r.Stdout.Bytes(), &got); err != nil {
		t.Fatalf("printed %q, %q (%v)", r.Stdout.Bytes(), r.Stderr.Bytes(), r.Err())
	}
	if !slices.Equal(got, args) {
		t.Errorf("the program got %q, want %q", got, args)
	}
	if files, _ := os.ReadDir(dir); len(files) > 1 {
		t.Errorf("an argument ran a command: the folder contains %v", files)
	}
}

func TestBatchFileRefusesLineBreak(t *testing.T) {
	script := filepath.Join(t.TempDir(), "x.bat")
	if err := os.WriteFile(script, []byte("@echo off\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := proc.Start(t.Context(), proc.Spec{Argv: []string{script, "a\nb"}})
	if err == nil || !strings.Contains(err.Error(), "contains a line break") {
		t.Errorf("Start returned %v", err)
	}
}

// What a program leaves is ended and reported.
func TestLeftoverIsReported(t *testing.T) {
	child := helperCopy(t, "left-child.exe")
	r := proc.Run(t.Context(), proc.Spec{
		Argv: []string{os.Args[0], child},
		Env:  append(os.Environ(), helperVariable+"=leave"),
	})
	if len(r.Leftovers) != 1 || !strings.Contains(r.Leftovers[0].Command, "left-child") {
		t.Errorf("reported as left: %+v (%v)", r.Leftovers, r.Err())
	}
	awaitNone(t, "left-child.exe")
}

// A kill of the runner leaves nothing, whenever it comes.
func TestKilledRunnerLeavesNothing(t *testing.T) {
	parent, child := helperCopy(t, "kill-parent.exe"), helperCopy(t, "kill-child.exe")
	for i := range 12 {
		runner := exec.Command(os.Args[0], parent, child)
		runner.Env = append(os.Environ(), helperVariable+"=runner")
		out, err := runner.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := runner.Start(); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 1)
		out.Read(buf) // it is about to start the parent
		time.Sleep(time.Duration(i) * 3 * time.Millisecond)
		runner.Process.Kill()
		runner.Wait()
		awaitNone(t, "kill-parent.exe")
		awaitNone(t, "kill-child.exe")
	}
}
