package explain

import (
	"path"
	"path/filepath"
	"strings"
)

// InRepository converts a path of a record to its path in the repository, which code
// hosts need. dir is Run.Dir; an absolute path is unchanged.
func InRepository(dir, file string) string {
	if dir == "" || file == "" || path.IsAbs(file) || filepath.IsAbs(file) {
		return file
	}
	return path.Join(dir, strings.ReplaceAll(file, `\`, "/"))
}
