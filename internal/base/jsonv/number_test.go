package jsonv_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"

	"pgregory.net/rapid"
)

func num(t testing.TB, lit string) jsonv.Value {
	t.Helper()
	v, err := jsonv.Number(lit)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestNumberLiterals(t *testing.T) {
	for _, lit := range []string{"", "-", "+1", "01", "1.", ".1", "1e", "0x1", "1 ", " 1", "NaN", "1e5x", "١"} {
		if v, err := jsonv.Number(lit); err == nil {
			t.Errorf("Number(%q) = %s", lit, v)
		}
	}
}

func TestCompare(t *testing.T) {
	long := strings.Repeat("9", 30)
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"1", "1.0", 0},
		{"1", "1e0", 0},
		{"1", "10e-1", 0},
		{"1", "0.1e+1", 0},
		{"100", "1e2", 0},
		{"0", "-0", 0},
		{"0", "0e999999999999999999999", 0},
		{"0", "0.000", 0},
		{"9007199254740993", "9007199254740992", 1},
		{"9007199254740993", "9007199254740993.0", 0},
		{"0.1", "0.10000000000000000555", -1},
		{"-1", "1", -1},
		{"-2", "-1", -1},
		{"-1", "0", -1},
		{"1e400000", "1e399999", 1},
		{"1e400000", "10e399999", 0},
		{"-1e400000", "1", -1},
		{"1e-400000", "0", 1},
		{"1e-400000", "1e-400001", 1},
		{"1e" + long, "1e" + long, 0},
		{"1e" + long, "10e" + long, -1},
		{"10e" + long, "1e1" + strings.Repeat("0", 30), 0},
		{"0.1e1" + strings.Repeat("0", 30), "1e" + long, 0},
		{"1e-" + long, "10e-1" + strings.Repeat("0", 30), 0},
		{"1e-" + long, "1e-1" + strings.Repeat("0", 30), 1},
		{"1e" + long, "1e-" + long, 1},
		{"-1e" + long, "-1e-" + long, -1},
		{"1e9223372036854775807", "10e9223372036854775806", 0},
		{"1e9223372036854775806", "0.1e9223372036854775807", 0},
		{"1e1000000000000000000", "10e999999999999999999", 0},
		{"1e0000000000000000000000000000000000001", "10", 0},
		{"123456789012345678901234567890", "123456789012345678901234567891", -1},
	} {
		a, b := num(t, tt.a), num(t, tt.b)
		if got, ok := jsonv.Compare(a, b); got != tt.want || !ok {
			t.Errorf("Compare(%s, %s) = %d %v, want %d", tt.a, tt.b, got, ok, tt.want)
		}
		if got, _ := jsonv.Compare(b, a); got != -tt.want {
			t.Errorf("Compare(%s, %s) = %d, want %d", tt.b, tt.a, got, -tt.want)
		}
		if got := jsonv.Equal(a, b); got != (tt.want == 0) {
			t.Errorf("Equal(%s, %s) = %v", tt.a, tt.b, got)
		}
		if got := len(jsonv.Diff(a, b)) == 0; got != (tt.want == 0) {
			t.Errorf("Diff(%s, %s) empty: %v", tt.a, tt.b, got)
		}
	}
	if _, ok := jsonv.Compare(num(t, "1"), jsonv.String("1")); ok {
		t.Error("a string is comparable")
	}
}

// TestCompareIsExact compares with big.Rat, which is right but expensive.
func TestCompareIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lits := rapid.StringMatching(`-?(0|[1-9][0-9]{0,5})(\.[0-9]{1,3})?([eE][+-]?[0-3]?[0-9])?`)
		a, b := lits.Draw(t, "a"), lits.Draw(t, "b")
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		va, _ := jsonv.Number(a)
		vb, _ := jsonv.Number(b)
		if got, _ := jsonv.Compare(va, vb); got != x.Cmp(y) {
			t.Fatalf("Compare(%s, %s) = %d, want %d", a, b, got, x.Cmp(y))
		}
	})
}

func TestHugeNumbersAreCheap(t *testing.T) {
	a := num(t, "1e"+strings.Repeat("9", 200_000))
	b := num(t, "2e"+strings.Repeat("9", 200_000))
	if got, _ := jsonv.Compare(a, b); got != -1 {
		t.Error(got)
	}
}

func TestInt64(t *testing.T) {
	for lit, want := range map[string]int64{
		"0": 0, "-0": 0, "-0.0e5": 0, "1.0": 1, "1e3": 1000, "12.50e1": 125, "-1E+2": -100,
		"9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64, "9.223372036854775807e18": math.MaxInt64,
	} {
		if got, ok := num(t, lit).Int64(); got != want || !ok {
			t.Errorf("%s = %d %v", lit, got, ok)
		}
	}
	for _, lit := range []string{"1.5", "1e-1", "9223372036854775808", "1e19", "1e400000", "1e99999999999999999999", "1e-99999999999999999999", "10.01e1"} {
		if got, ok := num(t, lit).Int64(); ok {
			t.Errorf("%s = %d", lit, got)
		}
	}
	if _, ok := jsonv.String("1").Int64(); ok {
		t.Error("a string is an integer")
	}
}

func TestFloat64(t *testing.T) {
	for lit, want := range map[string]float64{"1.5": 1.5, "1e400": math.Inf(1), "-1e400": math.Inf(-1), "1e-400": 0} {
		if got := num(t, lit).Float64(); got != want {
			t.Errorf("%s = %v", lit, got)
		}
	}
	if got := jsonv.Null().Float64(); got != 0 {
		t.Error(got)
	}
}
