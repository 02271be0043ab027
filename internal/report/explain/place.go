package explain

import (
	"path"
	"path/filepath"
	"strings"
)

// InRepository is a path of a record as it is called in the repository: code
// hosts know no other names. dir is Run.Dir; an absolute path stays.
func InRepository(dir, file string) string {
	if dir == "" || file == "" || path.IsAbs(file) || filepath.IsAbs(file) {
		return file
	}
	return path.Join(dir, strings.ReplaceAll(file, `\`, "/"))
}
