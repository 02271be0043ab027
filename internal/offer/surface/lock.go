package surface

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/osfile"
	"mcptest/internal/base/source"
	"mcptest/internal/base/source/stored"
)

// LockVersion is the version of the format of lock files.
const LockVersion = 1

// lockEnd is the last line of a lock file. A file without it is truncated.
const lockEnd = "end: true"

const lockHead = "# Written by mcptest lock. Do not edit it: run mcptest lock again.\n"

// maxDepth limits the nesting of a definition in a lock file, so that every written
// lock file can be read.
const maxDepth = 90

// sections are the keys of a lock file that contain definitions.
var sections = map[string]Kind{
	"tools": Tool, "resources": Resource, "resource_templates": Template, "prompts": Prompt, "skills": Skill,
}

func nameSection(k Kind) string {
	for name, kind := range sections {
		if kind == k {
			return name
		}
	}
	return ""
}

// ErrDuplicate reports that a surface has two definitions with the same name.
var ErrDuplicate = errors.New("the lists are ambiguous")

// Lock returns the lock file of a surface. Each definition is a block with its
// own checksum, so that changes on two branches conflict only where both
// changed the same definition.
func (s *Surface) Lock() ([]byte, error) {
	if len(s.Warnings) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrDuplicate, strings.Join(s.Warnings, "; "))
	}
	w := &stored.Writer{}
	w.Raw(lockHead)
	w.Line(0, "mcptest_lock: "+strconv.Itoa(LockVersion))
	w.Line(0, "server: "+stored.Text(s.Server))
	w.Line(0, "checksum: "+checksum(s.Server, s.Info))
	if !s.Info.IsAbsent() {
		w.Member(0, "info", s.Info)
	}
	var kind Kind
	for _, it := range s.Items {
		if measureDepth(it.Def) > maxDepth {
			return nil, fmt.Errorf("%s %s is nested more than %d levels deep", it.Kind, it.Name, maxDepth)
		}
		if it.Kind != kind {
			kind = it.Kind
			w.Line(0, nameSection(kind)+":")
		}
		w.Line(1, stored.Text(it.Name)+":")
		w.Line(2, "checksum: "+checksum(it.Name, it.Def))
		w.Member(2, "definition", it.Def)
	}
	w.Line(0, lockEnd)
	return w.Bytes(), nil
}

// Write replaces a lock file, and creates its folder.
func Write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return osfile.Replace(path, data, 0o666)
}

// LockPath returns the path of a server's lock file: out itself, or a file in it if
// out is a folder or ends with a slash.
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
	return filepath.ToSlash(filepath.Join(out, cmp.Or(strings.TrimLeft(name, "."), "server")+".lock.yaml"))
}

func checksum(name string, v jsonv.Value) string { return "sha256:" + hash(name+"\x00"+v.String()) }

func measureDepth(v jsonv.Value) int {
	deepest := 0
	for _, e := range v.Children() {
		deepest = max(deepest, measureDepth(e))
	}
	return deepest + 1
}

// Replaceable returns the reason why a file with this content must not be replaced by
// a lock file: only lock files (also damaged ones) and empty files may be.
func Replaceable(data []byte) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	for line := range bytes.Lines(data) {
		if version, ok := bytes.CutPrefix(line, []byte("mcptest_lock:")); ok {
			if n, err := strconv.Atoi(string(bytes.TrimSpace(version))); err == nil && n > LockVersion {
				return fmt.Errorf("has format %d, this version of mcptest writes %d: update mcptest", n, LockVersion)
			}
			return nil
		}
	}
	return errors.New("is not a lock file: use --output for another one")
}

// FindOrphans lists the lock files in a folder for variants ("name@variant") that no
// longer exist, if the suite still has a server of that name; and those for other
// servers, which may belong to other suites. Files that can't be read are omitted.
func FindOrphans(dir string, servers []string) (variants, others []*Surface) {
	locks, _ := filepath.Glob(filepath.Join(osfile.EscapeGlob(dir), "*.lock.yaml"))
	for _, path := range locks {
		s, err := readFile(filepath.ToSlash(path), nil)
		if err != nil || slices.Contains(servers, s.Server) {
			continue
		}
		base, _, isVariant := strings.Cut(s.Server, "@")
		if isVariant && slices.ContainsFunc(servers, func(name string) bool { return name == base || strings.HasPrefix(name, base+"@") }) {
			variants = append(variants, s)
		} else {
			others = append(others, s)
		}
	}
	return variants, others
}

// ParseLock reads a lock file. The error is of type source.Diagnostics and contains
// all mistakes with their lines.
func ParseLock(f *source.File) (*Surface, error) {
	if d, found := stored.FindConflict(f, "mcptest lock again"); found {
		return nil, source.Diagnostics{d}
	}
	root, diags := source.Parse(f)
	whole := bytes.HasSuffix(bytes.TrimSpace(f.Data), []byte("\n"+lockEnd))
	if root == nil || diags.HasErrors() {
		if !whole {
			diags = append(diags, cutOff(f))
		}
		return nil, diags
	}
	var d source.Decoder
	s := readRoot(&d, f, root, whole)
	if ds := d.Diagnostics(); ds.HasErrors() {
		ds.Sort()
		return nil, ds
	}
	return s, nil
}

func cutOff(f *source.File) source.Diagnostic {
	d := source.Errorf(source.Pos{File: f, Line: max(f.Lines(), 1), Col: 1}, "", "the lock file is cut off: its last line must be %q", lockEnd)
	d.Hint = "run mcptest lock again, or restore the file from version control"
	return d
}

func readRoot(d *source.Decoder, f *source.File, root *source.Node, whole bool) *Surface {
	version := root.Get("mcptest_lock")
	n, err := 0, error(nil)
	switch {
	case version == nil:
		d.Errorf(root, "", "not a lock file of mcptest: it has no mcptest_lock")
		return nil
	case version.Kind == source.KindInt:
		if n, err = strconv.Atoi(version.Text); err == nil && n == LockVersion {
			break
		}
		if err == nil && n > LockVersion {
			d.Errorf(version, "mcptest_lock", "the lock file has format %d, this version of mcptest reads %d", n, LockVersion).Hint = "update mcptest"
			return nil
		}
		fallthrough
	default:
		d.Errorf(version, "mcptest_lock", "unknown format %s, expected %d", jsonv.String(version.Text).Short(20), LockVersion)
		return nil
	}
	if !whole {
		d.Add(cutOff(f))
		return nil
	}
	s := &Surface{Source: f.Name}
	var sum *source.Node
	for _, field := range root.Fields {
		switch key := field.Key.Text; key {
		case "mcptest_lock", "end":
		case "server":
			s.Server = field.Value.Text
		case "checksum":
			sum = field.Value
		case "info":
			s.Info = new(canon).canonicalizeValue(field.Value.JSON())
		default:
			kind, known := sections[key]
			if !known {
				d.ReportUnknownKey(field.Key, "", []string{"mcptest_lock", "server", "checksum", "info", "tools", "resources", "resource_templates", "prompts", "skills", "end"})
				continue
			}
			s.Items = append(s.Items, readSection(d, kind, key, field.Value)...)
		}
	}
	if root.Get("skills") == nil { // written before the server had any, or by an earlier mcptest
		s.Unknown = append(s.Unknown, Skill)
	}
	verify(d, sum, root, "", checksum(s.Server, s.Info))
	sortItems(s.Items)
	return s
}

func readSection(d *source.Decoder, kind Kind, path string, n *source.Node) []Item {
	if n.Kind != source.KindMap {
		d.ReportWrongType(n, path, "a map of definitions")
		return nil
	}
	var out []Item
	for _, field := range n.Fields {
		at := source.PathKey(path, field.Key.Text)
		def := field.Value.Get("definition")
		if def == nil {
			d.Errorf(field.Key, at, "the block has no definition")
			continue
		}
		item := Item{
			Kind: kind,
			Name: field.Key.Text,
			Def:  new(canon).canonicalizeValue(def.JSON()),
			Line: field.Key.Pos.Line,
		}
		verify(d, field.Value.Get("checksum"), field.Key, at, checksum(item.Name, item.Def))
		out = append(out, item)
	}
	return out
}

// verify compares the checksum of a block with that of its content.
func verify(d *source.Decoder, got, block *source.Node, path, want string) {
	switch {
	case got == nil:
		d.Errorf(block, path, "the block has no checksum").Hint = "run mcptest lock again"
	case got.Text != want:
		d.Errorf(got, path, "the block was edited by hand: its checksum does not match").Hint = "run mcptest lock again; it writes what the server offers"
	}
}
