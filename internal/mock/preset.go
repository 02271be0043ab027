package mock

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/source"
)

//go:embed presets/*.yaml
var presetFiles embed.FS

// Presets returns the names of the built-in manifests.
func Presets() []string { return []string{"echo", "everything", "evil"} }

// PresetFile returns the text of a built-in manifest, as an example to start from.
func PresetFile(name string) (*source.File, error) {
	if !slices.Contains(Presets(), name) {
		if hint := source.DidYouMean(name, Presets()); hint != "" {
			return nil, fmt.Errorf("unknown preset %q (%s)", name, hint)
		}
		return nil, fmt.Errorf("unknown preset %q: the presets are %s", name, strings.Join(Presets(), ", "))
	}
	data, err := presetFiles.ReadFile("presets/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("read preset %s: %w", name, err)
	}
	return &source.File{Name: "preset " + name, Data: data}, nil
}

// Preset returns a built-in manifest.
func Preset(name string) (*Manifest, error) {
	f, err := PresetFile(name)
	if err != nil {
		return nil, err
	}
	m, ds := Load(f)
	if m == nil {
		return nil, fmt.Errorf("load preset %s: %w", name, ds.Err())
	}
	return m, nil
}
