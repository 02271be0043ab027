package cmdutil

import (
	"bytes"
	"io"
	"runtime/debug"
)

// Version is the module's version, or the revision it was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}

// VersionOut is the output of a root command whose version is a whole line: it leaves out
// the words that cobra prints before it. A template for cobra would leave them out too,
// but looks up methods by name, for which the linker keeps every exported method.
type VersionOut struct{ io.Writer }

// Write writes what cobra prints.
func (o VersionOut) Write(p []byte) (int, error) {
	name, line, _ := bytes.Cut(p, []byte(" version "))
	if !bytes.HasPrefix(line, name) {
		line = p
	}
	n, err := o.Writer.Write(line)
	return n + len(p) - len(line), err
}
