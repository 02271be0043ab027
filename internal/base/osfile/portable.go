package osfile

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// MakePortable returns a file name for any text, such as the name of a server: the same name on
// every system. Characters that some systems refuse are underscores, and a name that Windows
// keeps for a device has one at the end. Names that differ in case only are one file on
// Windows and macOS: FoldName shows it. What follows the name in the file name must begin
// with a dot or a hyphen.
func MakePortable(text string) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x20 || strings.ContainsRune(`/\:*?"<>|%`, r) {
			return '_'
		}
		return r
	}, text)
	name = strings.TrimLeft(name, ".")
	stem, rest, dotted := strings.Cut(name, ".")
	if !isDevice(stem) {
		return name
	}
	if name = stem + "_"; dotted {
		name += "." + rest
	}
	return name
}

// FoldName returns a text that is equal for names of the same file on a system that ignores
// the case of names.
func FoldName(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// devices are the names that Windows keeps for devices, without those that end in a digit.
var devices = []string{"con", "prn", "aux", "nul", "conin$", "conout$"}

// isDevice reports whether a name without its extension is that of a device on Windows, such
// as aux and com1. Blanks at the end do not count.
func isDevice(stem string) bool {
	stem = strings.ToLower(strings.TrimRight(stem, " "))
	if slices.Contains(devices, stem) {
		return true
	}
	number, isPort := strings.CutPrefix(stem, "com")
	if !isPort {
		number, isPort = strings.CutPrefix(stem, "lpt")
	}
	return isPort && slices.Contains([]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³"}, number)
}

// CheckPath returns why a file cannot be created at a path that a user wrote: on Windows a
// device would get its content, or the file would have another name. On other systems it
// returns nil.
func CheckPath(path string) error {
	if runtime.GOOS != "windows" || strings.EqualFold(path, "nul") { // as /dev/null
		return nil
	}
	return checkWindowsPath(path)
}

func checkWindowsPath(path string) error {
	rest := strings.TrimPrefix(path, filepath.VolumeName(path))
	for _, part := range strings.FieldsFunc(rest, func(r rune) bool { return r == '/' || r == '\\' }) {
		stem, _, _ := strings.Cut(part, ".")
		switch {
		case part == "." || part == "..":
		case isDevice(stem):
			return fmt.Errorf("%s is the name of a device on Windows, with any extension: use another name", part)
		case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
			return fmt.Errorf("%q ends with a dot or a blank, which Windows removes: use another name", part)
		case strings.ContainsAny(part, `:*?"<>|`):
			return fmt.Errorf("%s contains a character that Windows does not allow in names", part)
		}
	}
	return nil
}
