//go:build linux

package faults_test

import (
	"strings"
	"time"
)

// framingRows are lines that are truncated, mixed or encoded wrongly.
func framingRows() []row {
	// ok: a valid response arrives too; the violation belongs to no pending id, so that it is
	// a finding of the run.
	noise := func(id, what, say, kind string, says ...string) row {
		return row{id: "framing/" + id, what: what, stdio: talk{say: say}, exit: 1, tests: "pass pass", says: append(says, kind)}
	}
	// own: the violation carries the call's id and fails the test.
	own := func(id, what, say, kind string, says ...string) row {
		return row{id: "framing/" + id, what: what, stdio: talk{say: say}, exit: 1, tests: "fail pass", says: append(says, kind)}
	}
	odd := func(id, what string, say string, act func(*stdio)) row {
		return row{id: "framing/odd-" + id, what: "odd: " + what, stdio: talk{say: say, act: act}, tests: "pass pass"}
	}
	result := `{"jsonrpc":"2.0","id":$ID,"result":` + goodResult + `}`
	return []row{
		odd("crlf", "lines end with CR LF", result+"\r\n", nil),
		odd("blank-lines", "blank lines between messages", "\n\r\n  \n$OK\n\n", nil),
		odd("spaces", "spaces and tabs around a message", " \t"+result+"  \n", nil),
		odd("one-byte-at-a-time", "the response comes byte by byte", "", func(s *stdio) {
			for _, c := range answer(s.id, goodResult) {
				s.write(string(c))
				delay(200 * time.Microsecond)
			}
		}),
		odd("slow-halves", "the response comes in two halves, 300 ms apart", "", func(s *stdio) {
			text := answer(s.id, goodResult)
			s.write(text[:20])
			delay(300 * time.Millisecond)
			s.write(text[20:])
		}),
		odd("key-order", "the id comes last", `{"result":`+goodResult+`,"id":$ID,"jsonrpc":"2.0"}`+"\n", nil),
		odd("escapes", "every letter is a \\u escape", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"\u006f\u006b"}]}}`+"\n", nil),
		odd("extra-members", "unknown members", `{"jsonrpc":"2.0","id":$ID,"trace":"x","result":{"content":[{"type":"text","text":"ok"}],"x":1}}`+"\n", nil),
		odd("inner-spaces", "spaces inside the message", `{ "jsonrpc" : "2.0" , "id" : $ID , "result" : `+goodResult+` }`+"\n", nil),
		odd("line-separators", "U+2028 inside a text", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"ok"}],"_meta":{"a":"`+"\u2028"+`"}}}`+"\n", nil),
		odd("three-megabytes", "a response of 3 MB", "", func(s *stdio) {
			s.write(`{"jsonrpc":"2.0","id":` + s.id + `,"result":{"_meta":{"x":"` + strings.Repeat("x", 3<<20) + `"},"content":[{"type":"text","text":"ok"}]}}` + "\n")
		}),

		noise("stray-line", "a log line on standard output", "Handling request\n$OK", "stray-output", "Handling request"),
		noise("stray-after", "a log line after the response", "$OKdone\n", "stray-output", "done"),
		noise("stray-json", "a JSON log line on standard output", `{"level":"info","msg":"hi"}`+"\n$OK", "stray-output", "level"),
		noise("stray-number", "a number on standard output", "42\n$OK", "stray-output", "42"),
		noise("stray-bracket", "a log line in brackets", "[INFO] started\n$OK", "stray-output", "[INFO] started"),
		noise("stray-date", "a log line that begins with a date in brackets", "[2026-11-22T10:00:00] started\n$OK", "stray-output", "write logs to stderr"),
		noise("stray-color", "colored text on standard output", "\x1b[31mred\x1b[0m\n$OK", "stray-output", `\x1b[31mred`),
		noise("stray-title", "a terminal's title sequence on standard output", "\x1b]0;owned\x07\n$OK", "stray-output", `\x1b]0;owned`),
		noise("python-dict", "a Python dictionary in place of JSON", "{'jsonrpc': '2.0'}\n$OK", "bad-json"),
		noise("two-on-a-line", "two messages on one line", `{"jsonrpc":"2.0","method":"a"}{"jsonrpc":"2.0","method":"b"}`+"\n$OK", "bad-json"),
		noise("notification-broken", "a notification that is not JSON", `{"jsonrpc":"2.0","method":"notifications/message","params":{]}`+"\n$OK", "bad-json"),
		noise("utf8-noise", "bytes that are no UTF-8", "\xff\xfe\xfd\n$OK", "invalid-utf8", `\xff\xfe\xfd`),
		own("utf16", "a message in UTF-16", "{\x00\"\x00}\x00\n\x00$OK", "nul-byte"),
		own("pretty", "a message over several lines", "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": $ID,\n  \"result\": "+goodResult+"\n}\n", "pretty-json"),
		noise("pretty-unfinished", "a message over several lines that never ends", "{\n  \"jsonrpc\": \"2.0\",\n$OK", "bad-json"),
		own("bom", "a byte order mark before the response", "\ufeff$OK", "bom"),
		own("nul", "a NUL byte before the response", "\x00$OK", "nul-byte"),
		own("utf8", "a text that is not UTF-8", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"ok"}],"_meta":{"a":"`+"\xff\xfe"+`"}}}`+"\n", "invalid-utf8", `\xff\xfe`),
		own("lone-surrogate", "half of a surrogate pair", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"ok"}],"_meta":{"a":"\ud800"}}}`+"\n", "lone-surrogate"),
		own("duplicate-key", "a key twice", `{"jsonrpc":"2.0","id":$ID,"result":{},"result":`+goodResult+"}\n", "duplicate-key"),
		own("broken-json", "a response that is not JSON", `{"jsonrpc":"2.0","id":$ID,"result":{"a":}}`+"\n", "bad-json", "not valid JSON"),
		own("nan", "NaN in the response", `{"jsonrpc":"2.0","id":$ID,"result":{"v":NaN}}`+"\n", "bad-json", "NaN"),
		own("trailing-comma", "a trailing comma", `{"jsonrpc":"2.0","id":$ID,"result":{"a":1,}}`+"\n", "bad-json"),
		own("control-character", "a bare tab in a text", `{"jsonrpc":"2.0","id":$ID,"result":{"a":"x`+"\t"+`y"}}`+"\n", "bad-json"),
		own("trailing-text", "text after the response on its line", `{"jsonrpc":"2.0","id":$ID,"result":{}} done`+"\n", "bad-json", "done"),
		own("too-deep", "a response 100,000 levels deep", `{"jsonrpc":"2.0","id":$ID,"result":{"x":`+strings.Repeat("[", 100000)+strings.Repeat("]", 100000)+"}}\n", "bad-json", "deep"),
		{id: "framing/no-newline", what: "the response has no newline and the server ends", stdio: talk{act: func(s *stdio) { s.write(strings.TrimSpace(answer(s.id, goodResult))); exitWith(0, "")(nil) }}, exit: 1, tests: "fail pass", says: []string{"partial-line"}},
		{id: "framing/batch", what: "an array of messages, where the revision has none", stdio: talk{say: `[{"jsonrpc":"2.0","id":$ID,"result":` + goodResult + "}]\n"}, exit: 1, tests: "fail pass", says: []string{"batch"}},
		{id: "framing/empty-batch", what: "an empty array", stdio: talk{say: "[]\n$OK"}, exit: 1, tests: "pass pass", says: []string{"batch"}},
		{id: "framing/odd-batch", what: "odd: an array of messages at revision 2025-03-26, which has them", stdio: talk{hello: strings.ReplaceAll(goodHello, "2025-11-25", "2025-03-26"), say: `[{"jsonrpc":"2.0","id":$ID,"result":` + goodResult + "}]\n"}, tests: "pass pass"},
	}
}
