package catalog_test

import (
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/catalog"
)

// TestUnionMembers makes values for a parameter whose type is a named union. A member is a
// type's name, or an object with its type, its name or both.
func TestUnionMembers(t *testing.T) {
	rows := []struct {
		members string
		want    string
	}{
		{`["string"]`, `"zz_conf_run_x"`},
		{`[{"type": "string"}]`, `"zz_conf_run_x"`},
		{`[{"name": "Color"}]`, `"red"`},
		{`[{"name": "title", "type": "string"}]`, `"zz_conf_run_x"`},
		{`[{"name": "Color", "type": "enum"}]`, `"red"`},
		{`[{"name": "lean", "type": "boo"}, "integer"]`, `1`},
	}
	for _, row := range rows {
		t.Run(row.members, func(t *testing.T) {
			cat := &catalog.Catalog{Types: map[string]*catalog.NamedType{
				"color": {Name: "Color", Kind: "enum", Detail: parse(t, `{"values": ["red", "blue"]}`)},
				"pick":  {Name: "Pick", Kind: "union", Detail: parse(t, `{"members": `+row.members+`}`)},
			}}
			maker := catalog.NewMaker(jsonv.Value{}, "run", cat)
			got, err := maker.MakeValue(&catalog.Operation{Name: "add"}, catalog.Parameter{Name: "pick", Type: "Pick"}, "x")
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

func parse(t *testing.T, text string) jsonv.Value {
	t.Helper()
	v, err := jsonv.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
