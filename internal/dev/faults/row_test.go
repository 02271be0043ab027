//go:build linux

package faults_test

import (
	"os"
	"os/exec"
	"slices"
	"time"
)

// row is one fault and the expected behavior of the program.
type row struct {
	id   string // family/name
	what string // what goes wrong, for people

	// The misbehaving server; the zero value behaves well.
	stdio talk
	http  *web

	// The suite. In all of them $EXE, $ID, $URL, $DIR and $PORT are filled in.
	suite  string // instead of the usual one
	server string // keys added to the usual suite's server
	test   string // keys added to the usual suite's first test; default: expect the text ok
	more   string // added below the usual suite
	files  map[string]string
	args   []string // default: run s.yml
	env    []string
	setup  func(*trial)            // anything else before the start
	change func(*exec.Cmd, *trial) // e.g. where standard output goes
	during func(*os.Process, *trial)

	// The expected result.
	exit   int
	tests  string   // verdicts in the record, in order; "" asks for no record
	says   []string // parts of what is printed
	never  []string // what may not be printed
	within time.Duration
	memory int      // MiB, peak; default 96
	leaves []string // files that may be new in the work folder
	dead   bool     // ended by a signal, which exit names
	after  func(*trial)
}

// lasts is the limit on the time of the whole run.
func (r *row) lasts() time.Duration {
	if r.within == 0 {
		return 3 * time.Second
	}
	return r.within
}

func (r *row) most() int {
	if r.memory == 0 {
		return 96
	}
	return r.memory
}

// table is every row, in the order of the page.
func table() []row {
	return slices.Concat(startRows(), eraRows(), processRows(), crashRows(), framingRows(), messageRows(), resultRows(), volumeRows(),
		httpRows(), sseRows(), sessionRows(), hookRows(), fixtureRows(), suiteRows(), outputRows(), signalRows(), textRows())
}

func rowOf(id string) *row {
	for _, r := range table() {
		if r.id == id {
			return &r
		}
	}
	return nil
}
