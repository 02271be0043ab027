package source_test

import (
	"strings"
	"testing"

	"mcptest/internal/base/source"
)

func TestPlainScalars(t *testing.T) {
	tests := []struct {
		in   string
		kind source.Kind
		json string
		warn bool
	}{
		{in: "", kind: source.KindNull, json: "null"},
		{in: "~", kind: source.KindNull, json: "null"},
		{in: "null", kind: source.KindNull, json: "null"},
		{in: "NULL", kind: source.KindNull, json: "null"},
		{in: "nUll", kind: source.KindString, json: `"nUll"`},
		{in: "true", kind: source.KindBool, json: "true"},
		{in: "True", kind: source.KindBool, json: "true"},
		{in: "FALSE", kind: source.KindBool, json: "false"},
		{in: "yes", kind: source.KindString, json: `"yes"`},
		{in: "off", kind: source.KindString, json: `"off"`},
		{in: "y", kind: source.KindString, json: `"y"`},
		{in: "0", kind: source.KindInt, json: "0"},
		{in: "-0", kind: source.KindInt, json: "-0"},
		{in: "+5", kind: source.KindInt, json: "5"},
		{in: "9007199254740993", kind: source.KindInt, json: "9007199254740993"},
		{in: "-123456789012345678901234567890", kind: source.KindInt, json: "-123456789012345678901234567890"},
		{in: "0x1F", kind: source.KindInt, json: "31"},
		{in: "0xffffffffffffffffff", kind: source.KindInt, json: "4722366482869645213695"},
		{in: "0o17", kind: source.KindInt, json: "15"},
		{in: "0x", kind: source.KindString, json: `"0x"`},
		{in: "0xZZ", kind: source.KindString, json: `"0xZZ"`},
		{in: "0x-1", kind: source.KindString, json: `"0x-1"`},
		{in: "0o8", kind: source.KindString, json: `"0o8"`},
		{in: "0b11", kind: source.KindString, json: `"0b11"`},
		{in: "-0x1F", kind: source.KindString, json: `"-0x1F"`},
		{in: "1.5", kind: source.KindFloat, json: "1.5"},
		{in: "1.50", kind: source.KindFloat, json: "1.50"},
		{in: "1.", kind: source.KindFloat, json: "1.0"},
		{in: ".5", kind: source.KindFloat, json: "0.5"},
		{in: "-.5", kind: source.KindFloat, json: "-0.5"},
		{in: "+.5e3", kind: source.KindFloat, json: "0.5e3"},
		{in: "1e3", kind: source.KindFloat, json: "1e3"},
		{in: "1E+3", kind: source.KindFloat, json: "1E+3"},
		{in: "1.e3", kind: source.KindFloat, json: "1.0e3"},
		{in: "12e03", kind: source.KindFloat, json: "12e03"},
		{in: "1e", kind: source.KindString, json: `"1e"`},
		{in: "1e+-3", kind: source.KindString, json: `"1e+-3"`},
		{in: "e3", kind: source.KindString, json: `"e3"`},
		{in: ".", kind: source.KindString, json: `"."`},
		{in: ".e3", kind: source.KindString, json: `".e3"`},
		{in: "+", kind: source.KindString, json: `"+"`},
		{in: "--1", kind: source.KindString, json: `"--1"`},
		{in: "1_000", kind: source.KindString, json: `"1_000"`},
		{in: "1.2.3", kind: source.KindString, json: `"1.2.3"`},
		{in: "12:30", kind: source.KindString, json: `"12:30"`},
		{in: "2024-01-01", kind: source.KindString, json: `"2024-01-01"`},
		{in: "017", kind: source.KindString, json: `"017"`, warn: true},
		{in: "08", kind: source.KindString, json: `"08"`, warn: true},
		{in: "-007", kind: source.KindString, json: `"-007"`, warn: true},
		{in: "00.5", kind: source.KindString, json: `"00.5"`, warn: true},
		{in: "0.5", kind: source.KindFloat, json: "0.5"},
		{in: ".inf", kind: source.KindString, json: `".inf"`, warn: true},
		{in: "+.INF", kind: source.KindString, json: `"+.INF"`, warn: true},
		{in: ".NaN", kind: source.KindString, json: `".NaN"`, warn: true},
		{in: "-.nan", kind: source.KindString, json: `"-.nan"`},
		{in: "inf", kind: source.KindString, json: `"inf"`},
		{in: `"5"`, kind: source.KindString, json: `"5"`},
		{in: `'true'`, kind: source.KindString, json: `"true"`},
		{in: "! 5", kind: source.KindString, json: `"5"`},
		{in: "!!str 5", kind: source.KindString, json: `"5"`},
		{in: `!!int "5"`, kind: source.KindInt, json: "5"},
		{in: "!!float 5", kind: source.KindFloat, json: "5"},
		{in: "!!null", kind: source.KindNull, json: "null"},
		{in: "!<tag:yaml.org,2002:str> 5", kind: source.KindString, json: `"5"`},
	}
	for _, tt := range tests {
		n, ds := parse("v: " + tt.in + "\n")
		if n == nil || ds.HasErrors() {
			t.Errorf("%s: %v", tt.in, ds)
			continue
		}
		v := n.Get("v")
		if v.Kind != tt.kind || v.JSON().String() != tt.json || (len(ds) > 0) != tt.warn {
			t.Errorf("%s: got %v %s %v, want %v %s", tt.in, v.Kind, v.JSON(), ds, tt.kind, tt.json)
		}
		if again := source.FromJSON(v.JSON(), v.Pos); tt.in != "!!float 5" && again.Kind != v.Kind {
			t.Errorf("%s: %v becomes %v through JSON", tt.in, v.Kind, again.Kind)
		}
	}
}

func TestHugeNumbers(t *testing.T) {
	for text, warn := range map[string]bool{
		strings.Repeat("9", 100_000):        false,
		"0x" + strings.Repeat("f", 1000):    false,
		"0x" + strings.Repeat("f", 100_000): true,
		"1e" + strings.Repeat("9", 1000):    false,
	} {
		n, ds := parse("v: " + text)
		if ds.HasErrors() || (len(ds) > 0) != warn {
			t.Errorf("%.20s…: %v", text, ds)
		}
		if v := n.Get("v").JSON(); text[0] == '9' && v.Literal() != text {
			t.Errorf("%.20s…: digits are lost", text)
		}
	}
}
