package keep

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: a new file has the owner of its folder.
func keepOwner(*os.File, fs.FileInfo) error { return nil }
