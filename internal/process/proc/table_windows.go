package proc

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// startTime returns the creation time of a process, or "".
func startTime(pid int) string {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return ""
	}
	defer windows.CloseHandle(h)
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(h, &created, &exited, &kernel, &user) != nil || exited.HighDateTime != 0 {
		return ""
	}
	return fmt.Sprint(created.Nanoseconds())
}

func processes() []procInfo {
	snap, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil
	}
	defer windows.CloseHandle(snap)
	var out []procInfo
	e := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snap, &e); err == nil; err = windows.Process32Next(snap, &e) {
		out = append(out, procInfo{
			Pid:     int(e.ProcessID),
			Ppid:    int(e.ParentProcessID),
			Command: windows.UTF16ToString(e.ExeFile[:]),
		})
	}
	return out
}

func groupMembers(ref Ref) []procInfo { return membersIn(processes(), ref) }

// membersIn returns a process and its descendants while it is alive. Windows keeps
// the parent id after the parent's exit, so descendants of an exited process are
// ignored: the id may be that of another process.
func membersIn(table []procInfo, ref Ref) []procInfo {
	if ref.Pid <= 0 || ref.Start == "" || startTime(ref.Pid) != ref.Start {
		return nil
	}
	in := map[int]bool{}
	var out []procInfo
	for more := true; more; {
		more = false
		for _, p := range table {
			if (p.Pid == ref.Pid || in[p.Ppid]) && !in[p.Pid] {
				in[p.Pid], more = true, true
				out = append(out, p)
			}
		}
	}
	return out
}

func commandLine(pid int) string { return fmt.Sprintf("[%d]", pid) }
