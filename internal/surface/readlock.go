package surface

import (
	"bytes"
	"strconv"

	"mcptest/internal/jsonv"
	"mcptest/internal/source"
	"mcptest/internal/source/stored"
)

// ParseLock reads a lock file. The error is of type source.Diagnostics and
// names all mistakes with their lines.
func ParseLock(f *source.File) (*Surface, error) {
	if d, found := stored.Conflict(f, "mcptest lock again"); found {
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
	switch n, err := 0, error(nil); {
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
			s.Info = canon{}.value(field.Value.JSON())
		default:
			kind, known := sections[key]
			if !known {
				d.UnknownKey(field.Key, "", []string{"mcptest_lock", "server", "checksum", "info", "tools", "resources", "resource_templates", "prompts", "end"})
				continue
			}
			s.Items = append(s.Items, readSection(d, kind, key, field.Value)...)
		}
	}
	verify(d, sum, root, "", checksum(s.Server, s.Info))
	sortItems(s.Items)
	return s
}

func readSection(d *source.Decoder, kind Kind, path string, n *source.Node) []Item {
	if n.Kind != source.KindMap {
		d.WrongType(n, path, "a map of definitions")
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
		item := Item{Kind: kind, Name: field.Key.Text, Def: canon{}.value(def.JSON()), Line: field.Key.Pos.Line}
		verify(d, field.Value.Get("checksum"), field.Key, at, checksum(item.Name, item.Def))
		out = append(out, item)
	}
	return out
}

// verify compares the checksum of a block with the one that its content has.
func verify(d *source.Decoder, got, block *source.Node, path, want string) {
	switch {
	case got == nil:
		d.Errorf(block, path, "the block has no checksum").Hint = "run mcptest lock again"
	case got.Text != want:
		d.Errorf(got, path, "the block was edited by hand: its checksum does not match").Hint = "run mcptest lock again; it writes what the server offers"
	}
}
