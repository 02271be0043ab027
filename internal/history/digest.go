package history

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"mcptest/internal/plan"
	"mcptest/internal/suite"
)

// Digest is equal for plans of the same files and selection in any folder, so that
// shards of different plans are not merged.
func Digest(p *plan.Plan, suites []*suite.Suite) (string, error) {
	h := sha256.New()
	for _, su := range suites {
		for _, path := range su.Files {
			if err := digestFile(h, path); err != nil {
				return "", err
			}
		}
	}
	for i := range p.Len() {
		fmt.Fprintf(h, "%d %q\n", p.FileOf(i), p.Name(i))
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

func digestFile(h io.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	one := sha256.New()
	if _, err := io.Copy(one, file); err != nil {
		return err
	}
	_, err = h.Write(one.Sum(nil))
	return err
}
