package suite

import (
	"path/filepath"

	"mcptest/internal/base/source"
	"mcptest/internal/process/bundle"
)

// BundleCommand is a command that is a bundle.
type BundleCommand struct {
	// The bundle: a file that ends in .mcpb. It is unpacked into a temporary folder before the server starts.
	Bundle string `yaml:"bundle,required" example:"dist/server.mcpb"`
	// Values of the options in the user_config of its manifest: a text, a number, true or false, or a list of texts.
	Config source.Map[*source.Node] `yaml:"config" example:"{api_key: '${API_KEY}'}"`
}

// listBundleSecrets returns the values of the options that the manifest of a bundle calls
// sensitive. The path of the bundle is relative to dir.
func listBundleSecrets(command *source.Node, dir string) (out []string) {
	file, values := command.Get("bundle"), command.Get("config")
	if file == nil || !file.IsScalar() || values == nil {
		return nil
	}
	path := filepath.FromSlash(file.Text)
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	for _, name := range bundle.Sensitive(path) {
		v := values.Get(name)
		if v == nil {
			continue
		}
		for _, item := range append([]*source.Node{v}, v.Items...) {
			if item.IsScalar() && item.Text != "" {
				out = append(out, item.Text)
			}
		}
	}
	return out
}
