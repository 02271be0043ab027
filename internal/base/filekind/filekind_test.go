package filekind_test

import (
	"strings"
	"testing"

	"mcptest/internal/base/filekind"
)

// examples returns the beginning of a file of each kind.
func examples() map[filekind.Kind][]string {
	return map[filekind.Kind][]string{
		filekind.Record:       {"{\n  \"schema\": \"mcptest.run/v1\",\n  \"tool\": {\"name\": \"mcptest\"}}"},
		filekind.RecordLog:    {`{"event":"run_started","schema":"mcptest.run/v1","tool":{}}` + "\n{}"},
		filekind.Load:         {`{"schema": "mcptest.load/v1", "calls": 1}`},
		filekind.Cassette:     {`{"mcptest_cassette":1,"server":{}}` + "\n{}"},
		filekind.Recording:    {"mcptest_recording: 1\nupstream: api\n"},
		filekind.Lock:         {"# written by mcptest lock\nmcptest_lock: 1\nserver: m\ntools: {}\n", `{"mcptest_lock": 1}`},
		filekind.Tools:        {`{"tools": [{"name": "a", "inputSchema": {}}]}`, "tools:\n  - name: a\n    inputSchema: {}\n"},
		filekind.Known:        {"known_failures: [{name: t, reason: x}]\n"},
		filekind.Accepted:     {"accepted:\n  - {rule: a, tool: b, reason: c}\n"},
		filekind.Suite:        {"servers: {}\ntools: []\n", `{"servers": {"a": {"command": "x"}}, "tools": [{"tool": "a"}]}`, "\ufeffservers:\r\n  a: {}\r\nsurface: []\r\n"},
		filekind.Manifest:     {"mock_server:\n  name: m\n  tools: []\n"},
		filekind.Rules:        {"profiles: []\nrules: []\n"},
		filekind.Bundle:       {"PK\x03\x04\x14"},
		filekind.ClientConfig: {`{"mcpServers": {}}`},
		filekind.XML:          {"<?xml version=\"1.0\"?>", "<testsuites>"},
		filekind.HTML:         {"<!DOCTYPE html>", "\n<html>"},
		// What may be several kinds, or is none of them.
		filekind.Unknown: {
			"", "{", "[]", "print(1)", "servers: {}\n", `{"servers": {}}`, "tools: [{tool: a}]\n", `{"nested": {"mcptest_lock": 1}}`,
			"rules: []\n", `{"schema": "other"}`, `{"event": "x"}`, "accepted\n", "accepted:x\n",
		},
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	for want, heads := range examples() {
		for _, head := range heads {
			if got := filekind.Of([]byte(head)); got != want {
				t.Errorf("%q is %q, want %q", head, got, want)
			}
		}
	}
}

// A kind is also recognized if only the beginning of a long file is known.
func TestOfCutFile(t *testing.T) {
	t.Parallel()
	head := `{"schema": "mcptest.run/v1", "cases": [{"text": "` + strings.Repeat("x", 1000)
	if got := filekind.Of([]byte(head)); got != filekind.Record {
		t.Errorf("%q", got)
	}
}

// Each kind that mcptest reads names the command that reads it.
func TestReaders(t *testing.T) {
	t.Parallel()
	for kind := range examples() {
		isForeign := kind == filekind.Unknown || kind == filekind.XML || kind == filekind.HTML || kind == filekind.Recording
		if got := kind.Reader("FILE"); (got == "") != isForeign {
			t.Errorf("%q: %q", kind, got)
		}
	}
}
