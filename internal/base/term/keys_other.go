//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd

package term

import (
	"errors"
	"os"
)

// EnterKeyMode is not available: keys need Enter.
func EnterKeyMode(*os.File) (restore func(), err error) { return nil, errors.ErrUnsupported }
