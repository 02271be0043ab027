package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// bootID identifies the boot that clock ticks count from.
var bootID = sync.OnceValue(func() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(b))
})

// startTime returns the start time of a process, or "".
func startTime(pid int) string {
	p, ok := readStat(pid)
	if !ok {
		return ""
	}
	return p.Start
}

// readStat reads /proc/PID/stat (proc_pid_stat(5)).
func readStat(pid int) (procInfo, bool) {
	data, err := readProc("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return procInfo{}, false
	}
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 0 || end < open {
		return procInfo{}, false
	}
	f := bytes.Fields(data[end+1:])
	if len(f) < 20 {
		return procInfo{}, false
	}
	num := func(i int) int { n, _ := strconv.Atoi(string(f[i])); return n }
	return procInfo{
		Pid: pid, Ppid: num(1), Pgrp: num(2), Session: num(3),
		Zombie: f[0][0] == 'Z' || f[0][0] == 'X',
		Start:  bootID() + "/" + string(f[19]),
	}, true
}

// readProc reads a file of /proc. os.ReadFile makes four times as many system calls,
// because it registers the file with the poller first.
func readProc(name string) ([]byte, error) {
	fd, err := retry(func() (int, error) { return syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	data := make([]byte, 0, 2<<10)
	for {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := retry(func() (int, error) { return syscall.Read(fd, data[len(data):cap(data)]) })
		if err != nil || n == 0 {
			return data, err
		}
		data = data[:len(data)+n]
	}
}

// retry repeats a system call that a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); err != syscall.EINTR {
			return n, err
		}
	}
}

// processes reads the whole process table.
func processes() []procInfo {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var out []procInfo
	for _, n := range names {
		pid, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		if p, ok := readStat(pid); ok {
			out = append(out, p)
		}
	}
	return out
}

// commandLine returns the command line of a process, or its name in brackets.
func commandLine(pid int) string {
	base := "/proc/" + strconv.Itoa(pid)
	data, _ := os.ReadFile(base + "/cmdline")
	if line := strings.TrimSpace(strings.ReplaceAll(string(data), "\x00", " ")); line != "" {
		return line
	}
	comm, _ := os.ReadFile(base + "/comm")
	return "[" + strings.TrimSpace(string(comm)) + "]"
}
