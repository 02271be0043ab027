package gen

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// readComments adds the comments of structs and their fields in a folder's Go files to
// out, by "Type" and "Type.Field".
func readComments(out map[string]string, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read the language's structs: %w", err)
	}
	fset := token.NewFileSet()
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, filepath.Join(dir, e.Name()), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parse the language's structs: %w", err)
		}
		for _, decl := range file.Decls {
			addComments(out, decl)
		}
	}
	return nil
}

func addComments(out map[string]string, decl ast.Decl) {
	gd, ok := decl.(*ast.GenDecl)
	if !ok || gd.Tok != token.TYPE {
		return
	}
	for _, spec := range gd.Specs {
		ts := spec.(*ast.TypeSpec)
		st, ok := ts.Type.(*ast.StructType)
		if !ok {
			continue
		}
		out[ts.Name.Name] = strings.Join(strings.Fields(cmp.Or(ts.Doc, gd.Doc).Text()), " ")
		for _, f := range st.Fields.List {
			text := strings.Join(strings.Fields(f.Doc.Text()), " ")
			for _, name := range f.Names {
				if text != "" {
					out[ts.Name.Name+"."+name.Name] = text
				}
			}
		}
	}
}
