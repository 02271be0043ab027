package cassette_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/testkit"
	"mcptest/internal/tape/cassette"
)

const hello = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"demo","version":"1"}}}`

// write records frames of one session and returns the file.
func write(t testing.TB, frames ...cassette.Frame) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "demo"+cassette.Suffix)
	w, err := cassette.Create(path, cassette.Header{Program: "test", Server: cassette.Server{Name: "demo"}, Transport: cassette.Stdio}, secret.NewRedactor())
	if err != nil {
		t.Fatal(err)
	}
	s := w.Session()
	for _, f := range frames {
		f.Session = s
		if err := w.Write(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func to(data string) cassette.Frame {
	return cassette.Frame{Dir: cassette.ToServer, Data: []byte(data)}
}

func from(data string) cassette.Frame {
	return cassette.Frame{Dir: cassette.FromServer, Data: []byte(data)}
}

// Messages are stored byte for byte, even if they are not JSON; a large message stays in
// the file.
func TestBytesArePreserved(t *testing.T) {
	texts := []string{
		hello,
		`{"jsonrpc": "2.0",  "id":2.50e1, "a":1,"a":2, "z":"\u00e9é<&>\u2028"}`,
		"{\n  \"pretty\": true\n}\r\n",
		"Server started on port 3000",
		"",
		"\xff\xfe binary \x00",
		`[{"jsonrpc":"2.0"}]`,
		`{"cut off`,
		`{"big":"` + strings.Repeat("x y ", 100_000) + `"}`,
	}
	var frames []cassette.Frame
	for _, text := range texts {
		frames = append(frames, from(text))
	}
	path := write(t, frames...)
	c, err := cassette.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	testkit.Equal(t, "the protocol version", c.Protocol, "2025-11-25")
	testkit.Equal(t, "the warning", c.Warning, nil)
	if info := string(c.Server.Info); !strings.Contains(info, `"demo"`) {
		t.Errorf("the server is %s, want demo", info)
	}
	if len(c.Frames) != len(texts) {
		t.Fatalf("%d frames, expected %d", len(c.Frames), len(texts))
	}
	for i, want := range texts {
		got, err := c.Read(&c.Frames[i])
		if err != nil || string(got) != want {
			t.Errorf("frame %d: %.80q, %v; expected %.80q", i, got, err, want)
		}
	}
	last := c.Frames[len(texts)-1]
	testkit.Equal(t, "the bytes of a large message in memory", len(last.Data), 0)
	testkit.Equal(t, "whether the file has it", last.Has(), true)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Equal(t, "the mode of the file", info.Mode().Perm(), 0o600)
}

// A file that can't be used is refused with the line and the reason.
func TestBadCassettes(t *testing.T) {
	const head = `{"mcptest_cassette":1,"server":{},"transport":"stdio","masks":["secrets"]}` + "\n"
	for _, row := range []struct{ text, want string }{
		{"", "the file is empty"},
		{"hello\n", ":1: not a cassette: expected"},
		{`{"recording":"x"}` + "\n", ":1: not a cassette"},
		{`{"mcptest_cassette":9,"transport":5}` + "\n", ":1: the cassette has version 9; this program reads version 1"},
		{`{"mcptest_cassette":1,"transport":"stdio","masks":["rot13"]}` + "\n", `:1: the cassette has the mask "rot13"`},
		{`{"mcptest_cassette":1,"transport":"carrier pigeon","masks":[]}` + "\n", `:1: unknown transport "carrier pigeon"`},
		{head + "nonsense\n", ":2: the line cannot be read"},
		{head + `{"session":0,"dir":"to-server"}` + "\n", ":2: the line cannot be read: session is missing, or not greater than zero"},
		{head + `{}` + "\n", ":2: the line cannot be read: session is missing"},
		{"\uFEFF" + head, ":1: the file begins with a byte order mark"},
		{head + `{"session":1,"dir":"up"}` + "\n", `:2: the line cannot be read: unknown dir "up"`},
		{head + `{"session":1}` + "\n", ":2: the line cannot be read: a line needs dir, end, stderr or note"},
		{head + `{"session":1,"at_ms":-1,"dir":"to-server"}` + "\n", ":2: the line cannot be read: at_ms must be"},
	} {
		_, err := cassette.Read("f", strings.NewReader(row.text), int64(len(row.text)))
		var wrong *cassette.Error
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%q: %v, expected %s", row.text, err, row.want)
		}
	}
}

// The recording of a killed process is readable up to the truncated line.
func TestCutOff(t *testing.T) {
	path := write(t, to(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`), from(hello), to(`{"jsonrpc":"2.0","method":"x"}`))
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first, last := bytes.IndexByte(b, '\n')+1, bytes.LastIndexByte(b[:len(b)-1], '\n')+1
	for n := first; n < len(b); n++ {
		c, err := cassette.Read("f", bytes.NewReader(b[:n]), int64(n))
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if cut := b[n-1] != '\n' && n != len(b)-1 && n > last; cut {
			if c.Warning == nil {
				t.Fatalf("%d bytes: no warning", n)
			}
			testkit.Equal(t, fmt.Sprint(n, " bytes: the line of the warning"), c.Warning.Line, 4)
			testkit.Equal(t, fmt.Sprint(n, " bytes: the number of frames"), len(c.Frames), 2)
		}
	}
}

// A file that is not a cassette is never replaced.
func TestCreateKeepsOtherFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes")
	if err := os.WriteFile(path, []byte("my notes\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := cassette.Create(path, cassette.Header{}, secret.NewRedactor()); err == nil || !strings.Contains(err.Error(), "not a cassette and is not replaced") {
		t.Error(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "my notes\n" {
		t.Errorf("%q", b)
	}
}

// 20 secrets in each direction, in members, texts, headers, standard error and the header
// line: none is in the file.
func TestSecretsAreNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s"+cassette.Suffix)
	var declared []string
	for i := range 40 {
		declared = append(declared, fmt.Sprintf("planted-%02d-Zq8vK3", i))
	}
	redact := secret.NewRedactor()
	redact.Add(declared[:30]...) // the rest is found by the names of members and headers
	w, err := cassette.Create(path, cassette.Header{
		Server: cassette.Server{Command: []string{"server", "--token=" + declared[0]}, URL: "http://h/?key=" + declared[1]}, Transport: cassette.Stdio,
	}, redact)
	if err != nil {
		t.Fatal(err)
	}
	s := w.Session()
	for i, v := range declared {
		dir := cassette.ToServer
		if i%2 == 1 {
			dir = cassette.FromServer
		}
		f := cassette.Frame{Session: s, Dir: dir, Data: fmt.Appendf(nil, `{"params":{"password":%q,"text":"{\"api_key\":\"%s\"}"}}`, v, v)}
		switch {
		case i == 2:
			f.Data = []byte("not JSON: " + v + "\xff")
		case i == 3:
			f.Stderr = "connecting with " + v
		case i == 4:
			f.End = &cassette.End{Reason: "failed: " + v, Stderr: []string{v}}
		case i == 5: // a message that is not written whole, and the secret is where it is cut
			f.Data, f.Omitted = []byte(strings.Repeat("x", 4<<10-10)+v+"…"), 20<<20
		case i > 34:
			f.HTTP = &cassette.HTTP{Header: map[string][]string{"Authorization": {"Bearer " + v}, "Set-Cookie": {"a=" + v}, "Mcp-Session-Id": {v}}}
		}
		if err := w.Write(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range declared {
		if bytes.Contains(b, []byte(v[:10])) {
			t.Errorf("%s is in the file", v)
		}
	}
	if !bytes.Contains(b, []byte("session-1")) {
		t.Error("no id of a session was replaced")
	}
}

func FuzzRead(f *testing.F) {
	b, err := os.ReadFile(write(f, to(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`), from(hello), from("x\xff")))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"mcptest_cassette":1,"transport":"stdio","masks":[]}` + "\n" + `{"session":1,"stream":3,"end":{"exit":{"code":3}},"bytes":"AA=="}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := cassette.Read("f", bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for i := range c.Frames {
			if _, err := c.Read(&c.Frames[i]); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A credential that is in a header is masked in all messages of a cassette that is
// rewritten, also in those before it.
func TestRedactLearnsHeaders(t *testing.T) {
	const token = "PLANTopaque-credential-of-acme"
	request := to(`{"id":2}`)
	request.HTTP = &cassette.HTTP{Method: "POST", Header: map[string][]string{"Authorization": {"Bearer x"}}}
	path := write(t, from(hello), from(`{"id":1,"result":"`+token+`"}`), request)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.Replace(b, []byte(`["[redacted]"]`), []byte(`["Bearer `+token+`"]`), 1)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := cassette.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	n, err := cassette.Redact(path+".2", c, secret.NewRedactor())
	testkit.Equal(t, "the error", err, nil)
	testkit.Equal(t, "the number of changed messages", n, 1)
	if b, err = os.ReadFile(path + ".2"); err != nil || bytes.Contains(b, []byte(token)) {
		t.Errorf("%v\n%s", err, b)
	}
}
