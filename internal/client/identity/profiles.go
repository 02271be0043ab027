package identity

import "slices"

// A Profile is what a client says about itself.
type Profile struct {
	Name string // of the profile, as users write it

	ClientName, ClientTitle, ClientVersion string // clientInfo
	// Capabilities are the declared capabilities, the text of a JSON object.
	Capabilities string

	Source string // where that was seen
	Seen   string // when, YYYY-MM-DD
}

// apps is the extension MCP Apps, for clients that show views.
const apps = `"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}`

// profiles are in the order in which messages list them.
var profiles = []Profile{
	{
		Name:          "claude-code",
		ClientName:    "claude-code",
		ClientVersion: "2.1.286",
		Capabilities:  `{"roots":{"listChanged":true},"elicitation":{}}`,
		Source:        "frames of 2.1.224 to 2.1.295, thread claude-code#95149",
		Seen:          "2026-09-17",
	},
	{
		Name:          "claude-desktop",
		ClientName:    "claude-ai",
		ClientVersion: "0.1.0",
		Capabilities:  `{` + apps + `}`,
		Source:        "log of a stdio session, thread kapture#17",
		Seen:          "2026-06-01",
	},
	{
		Name:          "claude-ai",
		ClientName:    "Anthropic/ClaudeAI",
		ClientVersion: "1.0.0",
		Capabilities:  `{` + apps + `}`,
		Source:        "log of a connector, thread claude-ai-mcp#217",
		Seen:          "2026-09-27",
	},
	{
		Name:          "cursor",
		ClientName:    "cursor-vscode",
		ClientVersion: "1.0.0",
		Capabilities:  `{"roots":{"listChanged":false}}`,
		Source:        "frames of Cursor 3.20.17; newer ones may also declare MCP Apps",
		Seen:          "2026-08-22",
	},
	{
		Name:          "vscode",
		ClientName:    "Visual Studio Code",
		ClientVersion: "1.140.0",
		Capabilities: `{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}},` +
			`"tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}},"elicitation":{"create":{}}}},` + apps + `}`,
		Source: "source code c5308376 and frames of 1.107 to 1.140; Insiders has another name",
		Seen:   "2026-08-22",
	},
	{
		Name:          "chatgpt",
		ClientName:    "openai-mcp",
		ClientVersion: "1.0.0",
		Capabilities:  `{"experimental":{"openai/visibility":{"enabled":true}},` + apps + `}`,
		Source:        "frames of three connections",
		Seen:          "2026-09-01",
	},
	{
		Name:          "codex",
		ClientName:    "codex-mcp-client",
		ClientTitle:   "Codex",
		ClientVersion: "0.158.0",
		Capabilities:  `{"elicitation":{"form":{},"url":{}},"experimental":{"codex/auth-change":{}}}`,
		Source:        "frames of 0.146 to 0.158",
		Seen:          "2026-09-01",
	},
	{
		Name:          "gemini-cli",
		ClientName:    "gemini-cli-mcp-client",
		ClientVersion: "0.0.1",
		Capabilities:  `{}`,
		Source:        "names in the source code; that it declares nothing is inferred",
		Seen:          "2026-08-22",
	},
	{
		Name:          "copilot-cli",
		ClientName:    "github-copilot-cli",
		ClientVersion: "1.0.82",
		Capabilities:  `{}`,
		Source:        "lists of client names, releases 1.0.79 to 1.0.82; that it declares nothing is inferred",
		Seen:          "2026-08-22",
	},
	{
		Name:          "antigravity",
		ClientName:    "antigravity-client",
		ClientVersion: "v1.0.0",
		Capabilities:  `{}`,
		Source:        "thread executor#1449",
		Seen:          "2026-07-21",
	},
}

// Names returns the names of all profiles.
func Names() []string {
	names := make([]string, len(profiles))
	for i, p := range profiles {
		names[i] = p.Name
	}
	return names
}

// All returns the profiles, for documentation.
func All() []Profile { return slices.Clone(profiles) }

// Named returns the profile with a name, and whether there is one.
func Named(name string) (Profile, bool) {
	for _, p := range profiles {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}
