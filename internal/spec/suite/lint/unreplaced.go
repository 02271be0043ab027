package lint

import (
	"regexp"
	"strings"

	"mcptest/internal/base/source"
)

// unreplaced matches $NAME as shells replace it: a whole word of capital letters that
// does not continue another word.
var unreplaced = regexp.MustCompile(`(?:^|[^\w$])\$([A-Z][A-Z0-9_]+)\b`)

// Unreplaced warns about $NAME in the keys of a server that contain values for the
// outside: it is sent as written. A command that is one text is examined where it is
// split, and words with a space or after -c may be scripts for a shell.
func Unreplaced(d *source.Decoder, server *source.Node, path string) {
	for _, key := range []string{"command", "args", "url", "query", "headers", "env"} {
		n := server.Get(key)
		switch {
		case n == nil || key == "command" && n.IsScalar():
		case n.IsScalar():
			value(d, n, path+"."+key)
		default:
			for i, item := range n.Items {
				script := i > 0 && strings.HasPrefix(n.Items[i-1].Text, "-") && strings.HasSuffix(n.Items[i-1].Text, "c")
				if !script && !strings.ContainsAny(item.Text, " \n") {
					value(d, item, source.PathIndex(path+"."+key, i))
				}
			}
			for _, f := range n.Fields {
				value(d, f.Value, source.PathKey(path+"."+key, f.Key.Text))
			}
		}
	}
}

func value(d *source.Decoder, n *source.Node, path string) {
	if n.Kind != source.KindString || n.Origin != source.Written {
		return
	}
	if at := unreplaced.FindStringSubmatchIndex(n.Text); at != nil {
		name := n.Text[at[2]:at[3]]
		d.AddNew(source.Diagnostic{
			Pos: n.In(at[2] - 1), Path: path, Severity: source.Warning, Code: "not-replaced",
			Msg: "$" + name + " is not replaced: it is passed on as written", Hint: "write ${" + name + "}",
		})
	}
}
