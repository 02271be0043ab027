package surface

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"mcptest/internal/display"
	"mcptest/internal/jsonv"
	"mcptest/internal/osfile"
)

// LockVersion is the version of the format of lock files.
const LockVersion = 1

// lockEnd is the last line of a lock file. Without it the file was cut off.
const lockEnd = "end: true"

const lockHead = "# Written by mcptest lock. Do not edit it: run mcptest lock again.\n"

// maxDepth bounds the nesting of a definition in a lock file, so that every
// lock file that is written can be read.
const maxDepth = 90

// sections are the keys of a lock file that hold definitions.
var sections = map[string]Kind{"tools": Tool, "resources": Resource, "resource_templates": Template, "prompts": Prompt}

func sectionOf(k Kind) string {
	for name, kind := range sections {
		if kind == k {
			return name
		}
	}
	return ""
}

// ErrDuplicate is the error of a surface that has two definitions of one name.
var ErrDuplicate = errors.New("the lists are ambiguous")

// Lock returns the lock file of a surface. Each definition is a block with its
// own checksum, so that changes on two branches conflict only where both
// changed the same definition.
func (s *Surface) Lock() ([]byte, error) {
	if len(s.Warnings) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrDuplicate, strings.Join(s.Warnings, "; "))
	}
	w := &yamlWriter{}
	w.b.WriteString(lockHead)
	w.line(0, "mcptest_lock: "+strconv.Itoa(LockVersion))
	w.line(0, "server: "+yamlText(s.Server))
	w.line(0, "checksum: "+checksum(s.Server, s.Info))
	if !s.Info.IsAbsent() {
		w.member(0, "info", s.Info)
	}
	var kind Kind
	for _, it := range s.Items {
		if depth(it.Def) > maxDepth {
			return nil, fmt.Errorf("%s %s is nested more than %d levels deep", it.Kind, it.Name, maxDepth)
		}
		if it.Kind != kind {
			kind = it.Kind
			w.line(0, sectionOf(kind)+":")
		}
		w.line(1, yamlText(it.Name)+":")
		w.line(2, "checksum: "+checksum(it.Name, it.Def))
		w.member(2, "definition", it.Def)
	}
	w.line(0, lockEnd)
	return w.b.Bytes(), nil
}

// Write replaces a lock file, and makes its folder.
func Write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return osfile.Replace(path, data, 0o666)
}

// LockPath is the lock file of a server: out itself, or a file in it if out is a
// folder or ends with a slash.
func LockPath(out, server string) string {
	st, err := os.Stat(out)
	if !strings.HasSuffix(out, "/") && (err != nil || !st.IsDir()) {
		return out
	}
	name := strings.Map(func(r rune) rune {
		if r > 0x7f || r < 0x20 || strings.ContainsRune(`/\:*?"<>| `, r) {
			return '-'
		}
		return r
	}, server)
	return filepath.Join(out, cmp.Or(strings.TrimLeft(name, "."), "server")+".lock.yaml")
}

func checksum(name string, v jsonv.Value) string {
	return "sha256:" + hash(name+"\x00"+v.String())
}

func depth(v jsonv.Value) int {
	deepest := 0
	for _, e := range v.Elems() {
		deepest = max(deepest, depth(e))
	}
	for _, e := range v.Members() {
		deepest = max(deepest, depth(e))
	}
	return deepest + 1
}

// yamlWriter writes values as YAML blocks, one value per line.
type yamlWriter struct{ b bytes.Buffer }

func (w *yamlWriter) line(level int, text string) {
	w.b.WriteString(strings.Repeat("  ", level) + text + "\n")
}

func (w *yamlWriter) member(level int, key string, v jsonv.Value) {
	w.value(level, yamlText(key)+":", v)
}

// value writes a value after head, which is a key with its colon or the dash of
// a list.
func (w *yamlWriter) value(level int, head string, v jsonv.Value) {
	switch {
	case v.Kind() == jsonv.KindObject && v.Len() > 0:
		w.line(level, head)
		for k, e := range v.Members() {
			w.member(level+1, k, e)
		}
	case v.Kind() == jsonv.KindArray && v.Len() > 0:
		w.line(level, head)
		for _, e := range v.Elems() {
			w.value(level+1, "-", e)
		}
	case v.Kind() == jsonv.KindString && fitsBlock(v.Text()):
		w.line(level, head+" |-")
		for line := range strings.SplitSeq(v.Text(), "\n") {
			if line == "" {
				w.b.WriteByte('\n')
				continue
			}
			w.line(level+1, line)
		}
	case v.Kind() == jsonv.KindString:
		w.line(level, head+" "+yamlText(v.Text()))
	default:
		w.line(level, head+" "+v.String())
	}
}

// fitsBlock reports whether a text of several lines keeps its meaning in a
// block scalar and has nothing that must be escaped.
func fitsBlock(s string) bool {
	if !strings.Contains(s, "\n") || strings.HasSuffix(s, "\n") || s[0] == ' ' || s[0] == '\n' || s[0] == '\t' {
		return false
	}
	for line := range strings.SplitSeq(s, "\n") {
		if strings.HasSuffix(line, " ") {
			return false
		}
		for _, r := range line {
			if r == '\ufeff' || display.Hidden(r) {
				return false
			}
		}
	}
	return true
}

// yamlText writes a text as a YAML scalar: plain where every YAML reader takes
// it for the same text, otherwise in double quotes with hidden characters as
// escapes.
func yamlText(s string) string {
	if plainText(s) {
		return s
	}
	b := []byte{'"'}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case display.Hidden(r):
			b = display.AppendEscape(b, r)
		default:
			b = append(b, string(r)...)
		}
	}
	return string(append(b, '"'))
}

func plainText(s string) bool {
	if s == "" || len(s) > 80 {
		return false
	}
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' && len(s) > 1
		if !letter && (i == 0 || !strings.ContainsRune("0123456789-/$", r)) {
			return false
		}
	}
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null":
		return false
	}
	return true
}
