package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref,omitempty"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	PURL    string `json:"purl,omitempty"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// writeSBOM lists the modules that the linker recorded in a program, as a
// CycloneDX document. That record is exact: it names what was linked, not what
// go.mod allows.
func writeSBOM(program, out string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	components := []component{module("stdlib", info.GoVersion[len("go"):])}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		components = append(components, module(m.Path, m.Version))
	}
	text, err := json.MarshalIndent(map[string]any{
		"$schema":     "http://cyclonedx.org/schema/bom-1.6.schema.json",
		"bomFormat":   "CycloneDX",
		"specVersion": "1.6",
		"version":     1,
		"metadata": map[string]any{"component": component{
			Type: "application", Name: filepath.Base(program), Version: info.Main.Version,
			Hashes: []hash{{"SHA-256", fmt.Sprintf("%x", sha256.Sum256(data))}},
		}},
		"components": components,
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(text, '\n'), 0o644)
}

func module(path, version string) component {
	url := "pkg:golang/" + path + "@" + version
	return component{Type: "library", Ref: url, Name: path, Version: version, PURL: url}
}
