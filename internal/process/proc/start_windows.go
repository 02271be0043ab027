package proc

import (
	"os"
	"os/exec"
	"strings"
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"
)

// jobList is PROC_THREAD_ATTRIBUTE_JOB_LIST: the jobs in which a process is created.
const jobList = 0x2000D

// startInJob is Start of a command, except that the process is in a job from its first
// instruction on: os/exec can only assign it afterwards, when it may have started others. A
// job is needed at the creation, and not after a start that is suspended, because the runner
// can be killed in between.
func startInJob(cmd *exec.Cmd, job windows.Handle) (*os.Process, error) {
	std, err := standardHandles(cmd)
	defer closeHandles(std)
	if err != nil {
		return nil, err
	}
	attrs, err := windows.NewProcThreadAttributeList(2)
	if err != nil {
		return nil, os.NewSyscallError("NewProcThreadAttributeList", err)
	}
	defer attrs.Delete()
	if err := attrs.Update(jobList, unsafe.Pointer(&job), unsafe.Sizeof(job)); err != nil {
		return nil, os.NewSyscallError("UpdateProcThreadAttribute", err)
	}
	// The process inherits these handles and no others.
	size := uintptr(len(std)) * unsafe.Sizeof(std[0])
	if err := attrs.Update(windows.PROC_THREAD_ATTRIBUTE_HANDLE_LIST, unsafe.Pointer(&std[0]), size); err != nil {
		return nil, os.NewSyscallError("UpdateProcThreadAttribute", err)
	}
	si := windows.StartupInfoEx{ProcThreadAttributeList: attrs.List()}
	si.Cb = uint32(unsafe.Sizeof(si))
	si.Flags = windows.STARTF_USESTDHANDLES
	si.StdInput, si.StdOutput, si.StdErr = std[0], std[1], std[2]

	line := cmd.SysProcAttr.CmdLine
	if line == "" {
		line = windows.ComposeCommandLine(cmd.Args)
	}
	texts, err := utf16Pointers(cmd.Path, line, cmd.Dir)
	if err != nil {
		return nil, &os.PathError{Op: "start", Path: cmd.Path, Err: err}
	}
	if cmd.Dir == "" {
		texts[2] = nil
	}
	flags := cmd.SysProcAttr.CreationFlags | windows.CREATE_UNICODE_ENVIRONMENT | windows.EXTENDED_STARTUPINFO_PRESENT
	env := environmentBlock(cmd.Environ())
	var created windows.ProcessInformation
	err = windows.CreateProcess(texts[0], texts[1], nil, nil, true, flags, &env[0], texts[2], &si.StartupInfo, &created)
	if err != nil {
		return nil, &os.PathError{Op: "start", Path: cmd.Path, Err: err}
	}
	defer windows.CloseHandle(created.Thread)
	defer windows.CloseHandle(created.Process) // until then no other process can get the id
	return os.FindProcess(int(created.ProcessId))
}

// standardHandles returns inheritable duplicates of the three standard streams, which are
// files of the command, or nil for the null device.
func standardHandles(cmd *exec.Cmd) (out []windows.Handle, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	self := windows.CurrentProcess()
	for _, stream := range []any{cmd.Stdin, cmd.Stdout, cmd.Stderr} {
		f, isFile := stream.(*os.File)
		if !isFile || f == nil {
			f = null
		}
		var h windows.Handle
		err := windows.DuplicateHandle(self, windows.Handle(f.Fd()), self, &h, 0, true, windows.DUPLICATE_SAME_ACCESS)
		if err != nil {
			return out, os.NewSyscallError("DuplicateHandle", err)
		}
		out = append(out, h)
	}
	return out, nil
}

func closeHandles(list []windows.Handle) {
	for _, h := range list {
		windows.CloseHandle(h)
	}
}

func utf16Pointers(texts ...string) (out []*uint16, err error) {
	for _, text := range texts {
		p, err := windows.UTF16PtrFromString(text)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// environmentBlock returns the variables, each ended by a NUL character, and one more. An
// empty block needs two of them.
func environmentBlock(env []string) []uint16 {
	if len(env) == 0 {
		return []uint16{0, 0}
	}
	return utf16.Encode([]rune(strings.Join(env, "\x00") + "\x00\x00"))
}
