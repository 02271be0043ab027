package cmdutil

import (
	"errors"
	"io/fs"
)

// Reason says why a file could not be used, without repeating its name.
func Reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such file"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	}
	return err.Error()
}
