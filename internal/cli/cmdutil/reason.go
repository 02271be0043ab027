package cmdutil

import (
	"errors"
	"io/fs"

	"mcptest/internal/base/source"
	"mcptest/internal/base/syserr"
)

// Reason says why a file could not be used, without repeating its name, and which one may
// have been meant.
func Reason(err error) string {
	near := ""
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
		near = p.Path
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such file" + source.Parenthesis(source.Suggest(source.FindNearFile(near)))
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	}
	return syserr.Text(err)
}
