package toolresult

// Limits of Claude Code, from its documentation (MCP, "output limits and warnings") as quoted
// in October 2026.
const (
	warnedTokens    = 10_000  // it shows a warning above
	mostTokens      = 25_000  // MAX_MCP_OUTPUT_TOKENS, the default
	mostCharacters  = 50_000  // a success without images is written to a file above
	mostRaised      = 500_000 // what _meta of a tool can raise mostCharacters to
	mostErrorText   = 11_000  // the text of an error is shortened above
	raisesSize      = "anthropic/maxResultSizeChars"
	charactersToken = 4 // bytes of text for a token: an estimate
)

// Limits of images in the Claude API, from its documentation of vision, read in November 2026.
const (
	mostPixels     = 8000     // of width and height
	mostImageBytes = 10 << 20 // of the base64 text
	patchPixels    = 28       // a token stands for a square of this width
)

// smallBlob is the length of base64 text that does not matter in a context.
const smallBlob = 1024

// Rule describes one rule of [Examine]: who was seen doing what, and when.
type Rule struct {
	ID     string
	Says   string // what is found, in one sentence
	Client string // what the client does
	Fix    string // what to change in the server
	Source string
	Seen   string // the date of the source, or on which an undated one was read
}

// Rules are all rules, in the order of the documentation.
var Rules = []Rule{
	{
		"result-size", "a result has more than 25,000 estimated tokens or 50,000 characters (advice: 10,000 tokens)",
		`Claude Code writes a success of more than 50,000 characters to a file and hands the model its path; more than 25,000 tokens with images are refused, and above 10,000 it warns. _meta["anthropic/maxResultSizeChars"] of the tool raises the limit for text to at most 500,000`,
		`return less, offer pages, or set _meta["anthropic/maxResultSizeChars"] on the tool`,
		"Claude Code documentation, MCP output limits, as quoted by a third party", "2026-10-05",
	},
	{
		"result-no-text", "a result has structuredContent and nothing else",
		"Claude Desktop and opencode show nothing; the specification says that a tool SHOULD also return the JSON as text",
		"return the JSON as text, too",
		"MCP 2025-11-25, tools; action_mcp#181, opencode#43123", "2026-08-17",
	},
	{
		"result-text-dropped", "the text of a result says something that structuredContent does not",
		"Claude Code and Codex hand the model structuredContent only",
		"put what the model must know into structuredContent, too",
		"claude-code#79944, #55677; codex 6f39a47, #10334", "2026-09-22",
	},
	{
		"result-image-dropped", "a result has an image and structuredContent",
		"Codex hands the model structuredContent only, and drops the image",
		"return the image without structuredContent, or name it there by its address",
		"codex 6f39a47, #10334", "2026-09-13",
	},
	{
		"result-error-structured", "the reason of an error is in structuredContent only",
		"Claude Code hands the model only the text of an error",
		"say the reason in the text",
		"claude-code#86032 (2.1.245, 2.1.260)", "2026-11-28",
	},
	{
		"result-error-size", "the text of an error has more than 11,000 characters",
		"Claude Code shortens it",
		"say the reason in the first lines, and shorten the rest",
		"Claude Code documentation, MCP output limits, as quoted by a third party", "2026-10-05",
	},
	{
		"result-image-type", "an image is neither JPEG, PNG, GIF nor WebP",
		"the Claude API refuses the request, and with it every later one of the conversation",
		"convert the image to JPEG, PNG, GIF or WebP",
		"Claude API documentation, vision; claude-code#28279", "2026-11-28",
	},
	{
		"result-image-mismatch", "the bytes of an image are of another type than its mimeType says",
		"the Claude API refuses the request, and with it every later one of the conversation",
		"declare the type that the bytes have",
		"Claude API documentation, vision; claude-code#11975", "2026-11-28",
	},
	{
		"result-image-data", "the data of an image is empty or not base64",
		"the Claude API refuses the request, and with it every later one of the conversation",
		"return the bytes of the image as base64",
		"Claude API documentation, vision", "2026-11-28",
	},
	{
		"result-image-size", "an image is wider or higher than 8,000 pixels, or has more than 10 MB of base64",
		"the Claude API refuses the request, and with it every later one of the conversation",
		"return a smaller image",
		"Claude API documentation, vision", "2026-11-28",
	},
	{
		"result-blob", "a result embeds a resource as base64 that is not an image",
		"Codex puts the base64 into the context of the model",
		"return a resource_link",
		"codex 6f39a47", "2026-09-13",
	},
}

// RuleOf returns the rule with an id.
func RuleOf(id string) (Rule, bool) {
	for _, r := range Rules {
		if r.ID == id {
			return r, true
		}
	}
	return Rule{}, false
}
