package probe_test

import (
	"flag"
	"os"
	"testing"
)

// waiting is how many tests run at once. Most of their time they wait for a server that
// says nothing, so the number of processors is no limit.
const waiting = "16"

func TestMain(m *testing.M) {
	if serveSkillCase() {
		return
	}
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		_ = flag.Set("test.parallel", waiting) // the flag exists, and the text is a number
	}
	os.Exit(m.Run())
}
