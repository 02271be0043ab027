package jsonv_test

import (
	"testing"

	"mcptest/internal/base/jsonv"
)

func TestAddIsExact(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ a, b, sum string }{
		{"9007199254740993", "1", "9007199254740994"},
		{"0.1", "0.2", "0.3"},
		{"-5", "5.0", "0"},
		{"1e20", "1", "100000000000000000001"},
		{"1.5e-3", "-1.5E-3", "0"},
		{"123456789012345678901234567890", "0.000000000000000000000000000001", "123456789012345678901234567890.000000000000000000000000000001"},
		{"0", "1e-400", "1e-400"},
		{"1e999999", "1", ""},
		{"1e-99999999999999999999", "1", ""},
	} {
		number := func(lit string) jsonv.Value {
			v, err := jsonv.Number(lit)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		a, b := number(tt.a), number(tt.b)
		got, ok := jsonv.Add(a, b)
		if ok != (tt.sum != "") {
			t.Errorf("%s + %s: %v, %v", tt.a, tt.b, got, ok)
			continue
		}
		if !ok {
			continue
		}
		if order, _ := jsonv.Compare(got, number(tt.sum)); order != 0 {
			t.Errorf("%s + %s is %s, not %s", tt.a, tt.b, got, tt.sum)
		}
		back, ok := jsonv.Subtract(got, b)
		if order, _ := jsonv.Compare(back, a); order != 0 || !ok {
			t.Errorf("%s - %s is %s, not %s", got, tt.b, back, tt.a)
		}
	}
	if _, ok := jsonv.Add(jsonv.Null(), jsonv.Null()); ok {
		t.Error("the sum of two nulls")
	}
}
