package cli

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"mcptest/internal/base/lists"
	"mcptest/internal/cli/option"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// shuffle is the flag that runs files and tests in a random order.
type shuffle struct {
	text string // as written: "" for no shuffle
	seed uint64
}

// anySeed stands for a seed that the program chooses.
const anySeed = "any"

func (s *shuffle) add(fl *pflag.FlagSet) {
	fl.StringVar(&s.text, "shuffle", "", "run files, and tests within each file, in a random order; `SEED` repeats one: finds tests that depend on others")
	fl.Lookup("shuffle").NoOptDefVal = anySeed
}

// check reads the seed, or chooses one.
func (s *shuffle) check() error {
	switch {
	case s.text == "" || s.seed != 0:
		return nil
	case s.text == anySeed:
		s.seed = 1 + rand.Uint64N(1_000_000)
		return nil
	}
	seed, err := strconv.ParseUint(s.text, 10, 64)
	if err != nil || seed == 0 {
		return option.Invalid("--shuffle: %q is not a seed: expected a whole number from 1, such as --shuffle=42", s.text)
	}
	s.seed = seed
	return nil
}

// newRandom returns a source of random numbers for one purpose.
func (s *shuffle) newRandom(purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(s.seed, purpose)) }

// shuffleFiles changes the order of the files.
func (s *shuffle) shuffleFiles(suites []*suite.Suite) {
	if s.seed != 0 {
		s.newRandom(1).Shuffle(len(suites), func(i, j int) {
			suites[i], suites[j] = suites[j], suites[i]
		})
	}
}

// shuffleTests changes the order of the tests within each file.
func (s *shuffle) shuffleTests(p *plan.Plan) {
	if s.seed == 0 {
		return
	}
	type place struct{ at, file, rank int }
	places := make([]place, p.Len())
	for at, rank := range s.newRandom(2).Perm(p.Len()) {
		places[at] = place{at, p.FileOf(at), rank}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.rank, b.rank))
	})
	p.Arrange(lists.Map(places, func(pl place) int { return pl.at }))
}

// describe says how to repeat the order.
func (s *shuffle) describe() []string {
	if s.seed == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the order is random: --shuffle=%d repeats it", s.seed)}
}
