package report

import "crypto/rand"

// suffix is a random part of a file name.
func suffix() string { return rand.Text()[:10] }
