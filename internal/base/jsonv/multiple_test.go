package jsonv_test

import (
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
)

func TestIsMultiple(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("9", 30)
	for _, tt := range []struct {
		a, step string
		want    bool
	}{
		{"4.35", "0.01", true},
		{"0.3", "0.1", true},
		{"0.35", "0.1", false},
		{"-6", "3", true},
		{"6", "-4", false},
		{"0", "7", true},
		{"5", "0", false},
		{"1e400000", "3", false},
		{"3e400000", "3", true},
		{"1e" + huge, "1e" + huge, true},
		{"1e" + huge, "7", false},
		{"1", "1e" + huge, false},
		{"1", "1e-" + huge, true},
		{"7e-" + huge, "7", false},
		{"9007199254740993", "9007199254740993", true},
		{"1e308", "1e-308", true},
	} {
		if got := jsonv.IsMultiple(number(t, tt.a), number(t, tt.step)); got != tt.want {
			t.Errorf("%s of %s: %v", tt.a, tt.step, got)
		}
	}
	if jsonv.IsMultiple(jsonv.String("2"), jsonv.Int(2)) || jsonv.IsMultiple(jsonv.Int(2), jsonv.Null()) {
		t.Error("values that are no numbers are multiples")
	}
}

// TestIsMultipleExactly compares with rational numbers.
func TestIsMultipleExactly(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	literal := func() string {
		return strconv.Itoa(r.IntN(2001)-1000) + []string{"", ".5", ".25", "e2", "e-3", ".10e1"}[r.IntN(6)]
	}
	hits := 0
	for range 20_000 {
		a, step := literal(), literal()
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(step)
		want := y.Sign() != 0 && new(big.Rat).Quo(x, divisor(y)).IsInt()
		if got := jsonv.IsMultiple(number(t, a), number(t, step)); got != want {
			t.Fatalf("%s of %s: %v", a, step, got)
		}
		if want {
			hits++
		}
	}
	if hits < 100 {
		t.Errorf("only %d multiples", hits)
	}
}

// divisor returns a number that may be divided by.
func divisor(y *big.Rat) *big.Rat {
	if y.Sign() == 0 {
		return big.NewRat(1, 1)
	}
	return y
}

func number(t *testing.T, literal string) jsonv.Value {
	t.Helper()
	v, err := jsonv.Number(literal)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
