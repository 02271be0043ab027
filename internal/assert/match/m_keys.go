package match

import (
	"slices"
	"strings"

	"mcptest/internal/assert/shown"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

var rowKeys = Row{
	Name: "keys", Doc: "the value is an object with exactly these keys, in any order",
	Example: `keys: [id, name]`, Passes: `{"name":"Ada","id":1}`, Fails: `{"id":1,"name":"Ada","admin":true}`,
	schema: `{"type":"array","items":{"type":"string"},"uniqueItems":true}`, compile: compileKeys,
}

func compileKeys(c *Compiler, n *source.Node, path string) Matcher {
	if n.Kind != source.KindList {
		c.Errorf(n, path, "", "expected a list of keys, got %s", shown.Node(n))
		return nil
	}
	want, valid := make([]string, len(n.Items)), true
	for i, item := range n.Items {
		key, ok := c.Text(item, source.PathIndex(path, i), "a key")
		want[i], valid = key, valid && ok
	}
	if !valid {
		return nil
	}
	return matchFunc(func(v jsonv.Value) Outcome {
		if v.Kind() != jsonv.KindObject {
			return unfit("an object", v)
		}
		var wrong []string
		for _, key := range want {
			if _, ok := v.Get(key); !ok {
				wrong = append(wrong, "lacks "+shown.Key(key))
			}
		}
		for key := range v.Members() {
			if !slices.Contains(want, key) {
				wrong = append(wrong, "also has "+shown.Key(key))
			}
		}
		if len(wrong) == 0 {
			return passed
		}
		return Outcome{Msg: "the object " + display.List(wrong, 12), Expected: "exactly the keys " + strings.Join(want, ", ")}
	})
}
