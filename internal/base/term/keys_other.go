//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd

package term

import (
	"errors"
	"os"
)

// KeyMode is not available: keys need Enter.
func KeyMode(*os.File) (restore func(), err error) { return nil, errors.ErrUnsupported }
