package variants

import (
	"slices"
	"strings"

	"mcptest/internal/base/source"
)

// Unknown is the name of the variant that stands for those that a program would print.
// As the name of a variant can't contain "*", no other has it.
const Unknown = "*"

// Programs runs the programs of a suite in a folder and returns what they print; nil if
// nothing must be started.
type Programs func(argv []string, dir string) ([]byte, error)

// Program prints the variants of a server.
type Program struct {
	Argv []string
	Dir  string
}

// Expand replaces from: in the variants of each server. values returns a node without
// placeholders. It returns the programs, and the servers whose
// variants are not known.
func Expand(
	servers *source.Node, dir string, run Programs, values func(n *source.Node, path string) *source.Node, d *source.Decoder,
) (programs []Program, unknown []string) {
	if servers == nil {
		return nil, nil
	}
	for _, server := range servers.Fields {
		written := server.Value.Get("variants")
		from := written.Get("from")
		if from == nil {
			continue
		}
		path := source.PathKey(source.PathKey("servers", server.Key.Text)+".variants", "from")
		var argv []string
		if from = values(from, path); from.Kind != source.KindList {
			d.ReportWrongType(from, path, "a program and its arguments as a list").Hint = "write from: [program, argument]; no variant can be called from"
		} else if d.Decode(from, path, &argv); len(argv) == 0 {
			d.Errorf(from, path, "the list is empty: expected a program and its arguments")
		}
		programs = append(programs, Program{argv, dir})
		var fields []source.Field
		if len(argv) > 0 && run != nil {
			fields = runPrinting(argv, dir, run, from, path, d)
		}
		if fields == nil {
			unknown = append(unknown, server.Key.Text)
			fields = []source.Field{{Key: newText(from.Pos, Unknown), Value: standIn(server.Value, from.Pos)}}
		}
		written.Fields = append(slices.DeleteFunc(written.Fields, func(f source.Field) bool { return f.Key.Text == "from" }), fields...)
	}
	return programs, unknown
}

// runPrinting runs the program and returns the variants that it prints.
func runPrinting(argv []string, dir string, run Programs, from *source.Node, path string, d *source.Decoder) []source.Field {
	text, err := run(argv, dir)
	if err != nil {
		d.Errorf(from, path, "can't get the variants: %v", err)
		return nil
	}
	root, ds := source.Parse(&source.File{Name: "output of " + strings.Join(argv, " "), Data: text})
	d.Add(ds...)
	switch {
	case root == nil:
	case root.Kind != source.KindMap:
		d.ReportWrongType(root, path, "a map of variants")
	case len(root.Fields) == 0:
		d.Errorf(from, path, "the program printed no variants")
	default:
		return root.Fields
	}
	return nil
}

// standIn returns a variant without differences, or with a command if the server has
// none, because its variants have them.
func standIn(server *source.Node, pos source.Pos) *source.Node {
	out := &source.Node{Pos: pos, Kind: source.KindMap}
	if server.Get("command") == nil && server.Get("url") == nil {
		out.Fields = []source.Field{{Key: newText(pos, "command"), Value: newText(pos, "unknown")}}
	}
	return out
}

func newText(pos source.Pos, s string) *source.Node {
	return &source.Node{Pos: pos, Kind: source.KindString, Text: s}
}
