package apps

import "slices"

// A Level says what a finding is worth.
type Level string

// The levels, worst first.
const (
	LevelError   Level = "error"
	LevelWarning Level = "warning"
	LevelAdvice  Level = "advice"
)

// A Rule says what a correct server does.
type Rule struct {
	ID     string
	Level  Level
	Effect string // what hosts do with a server that breaks it
	Must   bool   // the specification asks for it, and the probe has it; otherwise hosts do
	Text   string
	Fix    string
	Source string
}

// The sources of the rules.
const (
	stable      = "https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx"
	draft       = "https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/draft/apps.mdx"
	portability = "https://github.com/modelcontextprotocol/ext-apps/blob/main/docs/portability.md"
	cspGuide    = "https://github.com/modelcontextprotocol/ext-apps/blob/main/docs/csp-cors.md"
	resources   = "https://modelcontextprotocol.io/specification/2026-07-28/server/resources"
	domainIssue = "https://github.com/modelcontextprotocol/ext-apps/issues/735"
)

// Seen is the day on which the rules were last held against their sources.
const Seen = "2026-11-28"

// Rules returns the rules, in the order of reports.
func Rules() []Rule {
	return slices.Concat(listRequired(), listPageRules(), listToolRules())
}

// listRequired are the rules of the specification. The probe has them, too.
func listRequired() []Rule {
	return []Rule{
		{
			ID: "ui-resource-exists", Level: LevelError, Effect: "degraded", Must: true, Source: stable,
			Text: "The view of each tool can be read with resources/read.",
			Fix:  "register the resource under exactly the URI that the tool names",
		},
		{
			ID: "ui-scheme", Level: LevelError, Effect: "degraded", Must: true, Source: stable,
			Text: "The URI of a view starts with ui://.",
			Fix:  "register the view under a URI that starts with ui://, and name it in _meta.ui.resourceUri",
		},
		{
			ID: "ui-mime", Level: LevelError, Effect: "degraded", Must: true, Source: stable,
			Text: "A view that is read has the mimeType " + MediaType + ".",
			Fix:  "set mimeType of the content to " + MediaType,
		},
		{
			ID: "ui-content", Level: LevelError, Effect: "degraded", Must: true, Source: stable,
			Text: "A view that is read has its page in text or, as base64, in blob.",
			Fix:  "return {contents: [{uri, mimeType, text}]} with the page in text",
		},
		{
			ID: "ui-html", Level: LevelError, Effect: "degraded", Must: true, Source: stable,
			Text: "A view is an HTML page.",
			Fix:  "return a page that begins with <!doctype html>",
		},
		{
			ID: "ui-capability", Level: LevelError, Effect: "degraded", Must: true, Source: resources,
			Text: "A server whose tools have views declares the capability resources.",
			Fix:  "declare the capability resources",
		},
		{
			ID: "ui-fallback-tool", Level: LevelWarning, Effect: "tool lost", Must: true, Source: stable,
			Text: "A tool with a view is listed to clients that show none, too.",
			Fix:  "register the tool, or a variant of it that returns text, for clients without views",
		},
	}
}

// listPageRules are the rules about what hosts do with views.
func listPageRules() []Rule {
	return []Rule{
		{
			ID: "ui-csp-covers", Level: LevelError, Effect: "degraded", Source: stable,
			Text: "What a view loads from other hosts is declared in csp of its resource.",
			Fix:  "add the origin to csp of the resource",
		},
		{
			ID: "ui-relative", Level: LevelError, Effect: "degraded", Source: cspGuide,
			Text: "A view loads nothing from a relative URL: its frame has no server.",
			Fix:  "bundle it into the page",
		},
		{
			ID: "ui-meta-shape", Level: LevelError, Effect: "degraded", Source: stable,
			Text: "csp, permissions, prefersBorder and domain of a view have the types of the specification.",
			Fix:  "write csp as an object with lists of texts, and each permission as {}",
		},
		{
			ID: "ui-csp-origin", Level: LevelError, Effect: "degraded", Source: stable,
			Text: "The entries of csp are origins, such as https://cdn.example.com or https://*.example.com.",
			Fix:  "write one origin per entry, with https:// and without anything else",
		},
		{
			ID: "ui-csp-key", Level: LevelWarning, Effect: "degraded", Source: stable,
			Text: "csp has no member with a misspelled name.",
			Fix:  "use connectDomains, resourceDomains, frameDomains and baseUriDomains",
		},
		{
			ID: "ui-domain-claude", Level: LevelWarning, Effect: "degraded", Source: domainIssue,
			Text: "A domain of Claude is the one that it makes of the address of the server.",
			Fix:  "leave domain out",
		},
	}
}

// listToolRules are the rules about what hosts do with tools.
func listToolRules() []Rule {
	return []Rule{
		{
			ID: "ui-tool-meta", Level: LevelWarning, Effect: "degraded", Source: draft,
			Text: "csp, permissions and domain are on the resource, not on the tool.",
			Fix:  "move it to _meta.ui of the resource, in resources/list and in the content",
		},
		{
			ID: "ui-visibility", Level: LevelWarning, Effect: "degraded", Source: stable,
			Text: "visibility is a list of model and app.",
			Fix:  `use ["model", "app"], ["model"] or ["app"]`,
		},
		{
			ID: "ui-unreachable", Level: LevelWarning, Effect: "degraded", Source: stable,
			Text: "Where tools are for views only, a tool that the model may call has a view.",
			Fix:  "give a tool that the model may call a view, or add model to visibility",
		},
		{
			ID: "ui-flat-key", Level: LevelWarning, Effect: "degraded", Source: stable,
			Text: "A view is named by _meta.ui.resourceUri.",
			Fix:  `use _meta: {ui: {resourceUri: …}}; the key "ui/resourceUri" may stand next to it with the same URI`,
		},
		{
			ID: "ui-openai-only", Level: LevelWarning, Effect: "degraded", Source: portability,
			Text: "A tool with openai/outputTemplate has a view for other hosts, too.",
			Fix:  "add _meta.ui.resourceUri with a resource of the type " + MediaType,
		},
		{
			ID: "ui-era", Level: LevelWarning, Effect: "degraded", Source: stable,
			Text: "A tool has a view in each revision that the server speaks.",
			Fix:  "register the views for both: the extension is declared in initialize, and in _meta of each request of 2026-07-28",
		},
		{
			ID: "ui-app-only-shown", Level: LevelAdvice, Effect: "advice", Source: stable,
			Text: "Tools for views only are not listed to clients that show none.",
			Fix:  "list the tool only to clients that declare the extension " + Extension,
		},
	}
}

// RuleOf returns the rule with an id.
func RuleOf(id string) (Rule, bool) {
	all := Rules()
	i := slices.IndexFunc(all, func(r Rule) bool { return r.ID == id })
	if i < 0 {
		return Rule{}, false
	}
	return all[i], true
}
