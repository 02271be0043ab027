// Package manifest reads the description of a scripted MCP server: its tools, resources and
// prompts and their responses, if necessary down to the bytes on the wire. Package mock
// plays it.
//
// Entry points: Load reads a manifest, Preset returns a built-in one.
//
//	Load (or Preset) → *Manifest → Tool, Prompt, Find, Methods → *Response
//	Response.Choose(values) → its steps, then ResultOfTool, Prompt.Answer or Reading.Answer
//
// Invariants:
//
//   - A Manifest is immutable and shared; nothing here changes while a server runs. What
//     placeholders refer to comes from the caller as Values.
//   - Load reports every mistake in a manifest, with its position.
//   - The work and the size of a value are bounded, for any message of a client.
//
// Start reading at manifest.go, then response.go and template.go.
package manifest
