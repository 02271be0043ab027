package jsonschema

import "github.com/santhosh-tekuri/jsonschema/v6"

// FormatOf returns the check of one of the [Formats].
func FormatOf(name string) func(text string) bool {
	const url = "mcptest:format"
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(url, map[string]any{"format": name}); err != nil {
		return func(string) bool { return false }
	}
	s := c.MustCompile(url)
	return func(text string) bool { return s.Validate(text) == nil }
}
