package main

import (
	"bytes"
	"cmp"
	"fmt"
	"text/template"
)

type formulaArchive struct{ Name, URL, SHA256 string }

type formulaSystem struct {
	Name     string
	Archives []formulaArchive
}

// formula writes the Homebrew formula: the archives of a release with their
// checksums.
func formula(templateFile, home, url string, r release) ([]byte, error) {
	t, err := template.ParseFiles(templateFile)
	if err != nil {
		return nil, err
	}
	var systems []formulaSystem
	for _, s := range []struct{ name, goos string }{{"macos", "darwin"}, {"linux", "linux"}} {
		system := formulaSystem{Name: s.name}
		for _, a := range []struct{ name, goarch string }{{"arm", "arm64"}, {"intel", "amd64"}} {
			name := fmt.Sprintf("mcptest_%s_%s_%s.tar.gz", r.version, s.goos, a.goarch)
			sum, ok := r.sums[name]
			if !ok {
				return nil, fmt.Errorf("checksums.txt does not list %s", name)
			}
			system.Archives = append(system.Archives, formulaArchive{a.name, url + "/" + name, sum})
		}
		systems = append(systems, system)
	}
	var out bytes.Buffer
	err = t.Execute(&out, map[string]any{"Homepage": cmp.Or(home, url), "Version": r.version, "Systems": systems})
	return out.Bytes(), err
}
