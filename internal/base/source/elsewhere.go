package source

import (
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// WarnElsewhere warns that a file, which is found here by the path in a node, is not found on
// other systems: only Windows reads a backslash as a separator, and only Windows and macOS find
// a name in another case. Path is that of the node in its document.
func (d *Decoder) WarnElsewhere(n *Node, path, dir, written string) {
	if runtime.GOOS != "windows" && runtime.GOOS != "darwin" {
		return // it would not have been found
	}
	if why := explainNotElsewhere(dir, written); why != "" {
		d.Warnf(n, path, "%s", why)
	}
}

// explainNotElsewhere says why other systems do not find a path in a folder; "" if they do.
func explainNotElsewhere(dir, written string) string {
	slashed := strings.ReplaceAll(written, `\`, "/")
	if slashed != written {
		return "only Windows finds " + written + ": write " + slashed
	}
	for part := range strings.SplitSeq(written, "/") {
		names := listNames(dir)
		isOther := func(name string) bool { return name != part && strings.EqualFold(name, part) }
		i := slices.IndexFunc(names, isOther)
		if i >= 0 && !slices.Contains(names, part) {
			return "other systems do not find " + written + ": the name is written " + strconv.Quote(names[i])
		}
		dir = filepath.Join(dir, part)
	}
	return ""
}
