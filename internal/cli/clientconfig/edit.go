package clientconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
)

// entry is the definition of one server in a file.
type entry struct {
	at              span
	command, args   span
	hasArgs         bool
	program         string
	words           []string
	recorded        bool
	recordedProgram []string // what a recorded entry starts through the proxy
}

// find reads the entry of a server.
func find(src []byte, key, name string) (*entry, error) {
	doc, err := stripComments(src)
	if err != nil {
		return nil, fmt.Errorf("the file is not valid JSON: %w", err)
	}
	servers, ok := findMember(doc, span{0, len(doc)}, key)
	if !ok || doc[servers.from] != '{' {
		return nil, fmt.Errorf("the file has no %q with servers", key)
	}
	e := &entry{}
	if e.at, ok = findMember(doc, servers, name); !ok || doc[e.at.from] != '{' {
		return nil, fmt.Errorf("the file has no server called %q%s", name, joinKnown(doc[servers.from:servers.to]))
	}
	if e.command, ok = findMember(doc, e.at, "command"); !ok {
		if _, remote := findMember(doc, e.at, "url"); remote {
			return nil, fmt.Errorf("%q is a server with a url: record it with mcptest record --http ADDR --url URL, and let the client connect to ADDR", name)
		}
		return nil, fmt.Errorf("%q has no command", name)
	}
	if json.Unmarshal(doc[e.command.from:e.command.to], &e.program) != nil || e.program == "" {
		return nil, fmt.Errorf("the command of %q is not a string", name)
	}
	if e.args, e.hasArgs = findMember(doc, e.at, "args"); e.hasArgs {
		if json.Unmarshal(doc[e.args.from:e.args.to], &e.words) != nil {
			return nil, fmt.Errorf("the args of %q are not a list of strings", name)
		}
	}
	i := slices.Index(e.words, "--")
	hasCommand := i >= 0 && i+1 < len(e.words)
	if hasCommand && e.words[0] == "record" && strings.HasPrefix(filepath.Base(e.program), "mcptest") {
		e.recorded, e.recordedProgram = true, e.words[i+1:]
	}
	return e, nil
}

// joinKnown lists the servers of a file.
func joinKnown(servers []byte) string {
	var names []string
	_ = jsonv.VisitMembers(servers, func(k string, _ []byte) error { // it was checked before
		names = append(names, k)
		return nil
	})
	if len(names) == 0 {
		return ""
	}
	return "; it has " + strings.Join(names, ", ")
}

// ErrRecorded is returned for a server that is started through the proxy already.
var ErrRecorded = errors.New("the server is already recorded")

// Wrap returns the file with a server that is started through a proxy: by the
// words before its own command.
func Wrap(src []byte, key, name string, proxy []string) ([]byte, error) {
	e, err := find(src, key, name)
	if err != nil {
		return nil, err
	}
	if e.recorded {
		return nil, ErrRecorded
	}
	words := slices.Concat(proxy[1:], []string{"--", e.program}, e.words)
	return e.replace(src, proxy[0], words), nil
}

// Unwrap returns the file with a server that is started directly again.
func Unwrap(src []byte, key, name string) ([]byte, error) {
	e, err := find(src, key, name)
	if err != nil {
		return nil, err
	}
	if !e.recorded {
		return nil, fmt.Errorf("%q is not recorded: nothing to undo", name)
	}
	return e.replace(src, e.recordedProgram[0], e.recordedProgram[1:]), nil
}

// direct returns the file with all servers started directly.
func direct(src []byte, key string) []byte {
	doc, err := stripComments(src)
	if err != nil {
		return src
	}
	servers, ok := findMember(doc, span{0, len(doc)}, key)
	if !ok {
		return src
	}
	out := src
	_ = jsonv.VisitMembers(doc[servers.from:servers.to], func(name string, _ []byte) error { // not an object: nothing to do
		if again, err := Unwrap(out, key, name); err == nil {
			out = again
		}
		return nil
	})
	return out
}

// replace writes another command with its arguments, in the layout of the file.
func (e *entry) replace(src []byte, program string, words []string) []byte {
	if !e.hasArgs {
		e.args = span{e.command.to, e.command.to}
	}
	list := e.list(src, words)
	if !e.hasArgs {
		list = append([]byte(e.cutGap(src)+`"args": `), list...)
	}
	type edit struct {
		at   span
		text []byte
	}
	edits := []edit{{e.command, quote(program)}, {e.args, list}}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at.from - b.at.from })
	var out bytes.Buffer
	last := 0
	for _, x := range edits {
		out.Write(src[last:x.at.from])
		out.Write(x.text)
		last = x.at.to
	}
	out.Write(src[last:])
	return out.Bytes()
}

// cutGap separates a new member from the command: as the command is from what comes
// before it.
func (e *entry) cutGap(src []byte) string {
	line := bytes.LastIndexByte(src[:e.command.from], '\n')
	if line < e.at.from {
		return ", "
	}
	rest := src[line+1:]
	return ",\n" + string(rest[:len(rest)-len(bytes.TrimLeft(rest, " \t"))])
}

// list writes arguments on one line, or one a line as they were.
func (e *entry) list(src []byte, words []string) []byte {
	lead, sep, end := "", ", ", ""
	if e.hasArgs && len(words) > 0 {
		old := src[e.args.from+1 : e.args.to-1]
		before := string(old[:len(old)-len(bytes.TrimLeft(old, " \t\r\n"))])
		after := string(old[len(bytes.TrimRight(old, " \t\r\n")):])
		if i := strings.LastIndexByte(before, '\n'); i >= 0 {
			lead, end = before[i:], after
			sep = "," + lead
		}
	}
	return slices.Concat([]byte("["+lead), bytes.Join(quoteWords(words), []byte(sep)), []byte(end+"]"))
}

func quoteWords(words []string) (out [][]byte) {
	for _, w := range words {
		out = append(out, quote(w))
	}
	return out
}

func quote(s string) []byte { return jsonv.AppendString(nil, s) }
