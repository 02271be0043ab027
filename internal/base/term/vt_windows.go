package term

import (
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// enableVirtualTerminal makes a console understand escape sequences and reports
// whether it does.
func enableVirtualTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	var mode uint32
	h := windows.Handle(f.Fd())
	if windows.GetConsoleMode(h, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
