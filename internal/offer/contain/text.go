package contain

import (
	"strings"
	"unicode/utf8"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
)

// maxLength limits the constructed texts.
const maxLength = 20_000

// solveText constructs a string.
func (b *branch) solveText() answer {
	lo, hi := b.findLimits(opMinLength, opMaxLength)
	if lo > hi {
		return answer{}
	}
	if lo > maxLength {
		return answer{st: unknown}
	}
	var words []string
	complete := false
	patterns := b.listAtoms(opPattern)
	for _, a := range patterns {
		more, all := jsonschema.ListWords(a.text, lo)
		words, complete = append(words, more...), complete || all
	}
	if len(patterns) == 0 {
		words = append(words, makePlainWords(lo, hi, len(b.listExcluded()))...)
		complete = hi == 0
	}
	best := answer{}
	for _, w := range words {
		best = chooseBetter(best, b.fitsText(w, lo, hi))
		if best.st == found {
			return best
		}
	}
	if best.st == maybe || complete {
		return best
	}
	return answer{st: unknown}
}

func (b *branch) fitsText(w string, lo, hi int) answer {
	if n := utf8.RuneCountInString(w); n < lo || n > hi || contains(b.listExcluded(), jsonv.String(w)) {
		return answer{}
	}
	for _, l := range b.atoms {
		if l.a.op == opPattern && l.a.re.MatchString(w) == l.neg {
			return answer{}
		}
	}
	return answer{found, jsonv.String(w)}
}

// makePlainWords returns texts of allowed lengths, more than are excluded.
func makePlainWords(lo, hi, excluded int) []string {
	var out []string
	for _, w := range []string{"text", "a", "", "b", "0", "A", "-", " ", "a b", "!", "é"} {
		if pad := lo - utf8.RuneCountInString(w); pad > 0 {
			w += strings.Repeat("a", pad)
		}
		out = append(out, w)
	}
	if hi < 1 {
		return out
	}
	for i := range excluded + 1 {
		// One more text than there are excluded ones.
		out = append(out, strings.Repeat("a", max(lo-1, 0))+string(rune('一'+i%20_000)))
	}
	if hi < 1<<20 && hi > lo {
		out = append(out, strings.Repeat("a", min(hi, maxLength)))
	}
	return out
}
