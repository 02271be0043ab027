package apps

import (
	"fmt"
	"strings"

	"mcptest/internal/base/jsonv"
)

// judgeTool judges what a tool says about its view.
func (j *judge) judgeTool(tool jsonv.Value) {
	at := place{tool: tool.Lookup("name").Text()}
	j.judgeScheme(tool, at)
	j.judgeVisibility(tool, at)
	j.judgeFlatKey(tool, at)
	if !readView(tool).exists && !isNone(tool.Lookup("_meta", openaiKey)) {
		at.pointer = jsonv.AppendPointer("/_meta", openaiKey)
		j.report("ui-openai-only", at, "the tool has openai/outputTemplate and no _meta.ui.resourceUri: "+
			"ChatGPT shows the view, every other host none")
	}
}

func (j *judge) judgeScheme(tool jsonv.Value, at place) {
	v := readView(tool)
	at.pointer = v.pointer
	switch {
	case !v.exists:
	case !v.isText:
		j.report("ui-scheme", at, "resourceUri is not a text: hosts show no view")
	case !hasViewScheme(v.uri):
		j.report("ui-scheme", at,
			"the URI of the view is %s, which does not start with ui://: hosts show no view", quote(v.uri))
	}
}

func (j *judge) judgeVisibility(tool jsonv.Value, at place) {
	visibility := tool.Lookup("_meta", "ui", "visibility")
	at.pointer = "/_meta/ui/visibility"
	switch {
	case isNone(visibility):
	case visibility.Kind() != jsonv.KindArray:
		j.report("ui-visibility", at,
			"visibility is %s, expected a list of model and app: hosts show the tool to the model after all",
			visibility.Short(shownLength))
	case visibility.Len() == 0:
		j.report("ui-visibility", at, "visibility is an empty list: neither the model nor a view may call the tool")
	default:
		for _, who := range visibility.Elems() {
			if who.Text() != "model" && who.Text() != "app" {
				j.report("ui-visibility", at,
					"visibility has %s, expected model or app: hosts ignore it", who.Short(shownLength))
				return
			}
		}
	}
}

func (j *judge) judgeFlatKey(tool jsonv.Value, at place) {
	nested, flat := tool.Lookup("_meta", "ui", "resourceUri"), tool.Lookup("_meta", flatKey)
	at.pointer = jsonv.AppendPointer("/_meta", flatKey)
	switch {
	case isNone(flat):
	case isNone(nested):
		j.report("ui-flat-key", at,
			"the view is named by _meta[%q] alone, which is deprecated: newer hosts show none", flatKey)
	case !jsonv.Equal(nested, flat):
		j.report("ui-flat-key", at,
			"_meta[%q] is %s and _meta.ui.resourceUri %s: which view is shown depends on the host",
			flatKey, flat.Short(shownLength), nested.Short(shownLength))
	}
}

// judgeReach reports tools for views only, without a view that a model could open.
func (j *judge) judgeReach(l Listing) {
	for _, tool := range l.Tools {
		if readView(tool).exists && isForModel(tool) {
			return
		}
	}
	for _, tool := range l.Tools {
		if isForAppOnly(tool) {
			at := place{tool: tool.Lookup("name").Text(), pointer: "/_meta/ui/visibility"}
			j.report("ui-unreachable", at,
				"only a view may call the tool, and no tool that the model may call has a view")
		}
	}
}

// judgeCapability reports a server that has views and does not declare resources.
func (j *judge) judgeCapability(l Listing) {
	if l.Capabilities.Kind() != jsonv.KindObject || !isNone(l.Capabilities.Lookup("resources")) {
		return
	}
	for _, tool := range l.Tools {
		if readView(tool).exists {
			j.report("ui-capability", place{},
				"tools such as %s have a view, and the server does not declare the capability resources: "+
					"SDKs refuse to read the view", quote(tool.Lookup("name").Text()))
			return
		}
	}
}

// indexTools returns the tools of a list.
func indexTools(tools []jsonv.Value) map[string]jsonv.Value {
	out := map[string]jsonv.Value{}
	for _, tool := range tools {
		out[tool.Lookup("name").Text()] = tool
	}
	return out
}

// judgeFallback compares what a client with views sees with what another one sees.
func (j *judge) judgeFallback(with, without Listing) {
	plain, rich := indexTools(without.Tools), indexTools(with.Tools)
	variants := 0
	for name := range plain {
		if _, shared := rich[name]; !shared {
			variants++
		}
	}
	var lost []string
	for _, tool := range with.Tools {
		name := tool.Lookup("name").Text()
		if _, kept := plain[name]; !kept && readView(tool).exists && isForModel(tool) {
			lost = append(lost, name)
		}
	}
	for _, name := range lost {
		if variants >= len(lost) {
			j.reportAs(LevelAdvice, "ui-fallback-tool", place{tool: name},
				"a client without views does not get the tool; "+
					"it gets others, which may be its variants")
			continue
		}
		j.report("ui-fallback-tool", place{tool: name}, "clients that show no views lose the tool: "+
			"it is listed only if the extension %s is declared", Extension)
	}
	for _, tool := range without.Tools {
		if isForAppOnly(tool) {
			j.report("ui-app-only-shown", place{tool: tool.Lookup("name").Text(), pointer: "/_meta/ui/visibility"},
				"a tool for views only is listed to a client that shows none: its model sees the tool")
		}
	}
}

// judgeEras compares the views of two revisions, as clients see them that declare the extension.
func (j *judge) judgeEras(one, other Listing) {
	for _, pair := range [][2]Listing{{one, other}, {other, one}} {
		has, lacks := pair[0], indexTools(pair[1].Tools)
		for _, tool := range has.Tools {
			name := tool.Lookup("name").Text()
			if readView(tool).exists && !readView(lacks[name]).exists {
				j.report("ui-era", place{tool: name},
					"the tool has a view in %s and none in %s: clients of %s show none",
					has.Revision, pair[1].Revision, pair[1].Revision)
			}
		}
	}
}

// TextFallback says what is wrong with the result of a tool with a view for clients that
// show none; "" if nothing is.
func TextFallback(tool, result jsonv.Value) string {
	if !readView(tool).exists || !isForModel(tool) || result.Lookup("isError").Bool() {
		return ""
	}
	content := result.Lookup("content")
	for _, item := range content.Elems() {
		if item.Lookup("type").Text() != "text" || strings.TrimSpace(item.Lookup("text").Text()) != "" {
			return ""
		}
	}
	if content.Len() == 0 {
		return "the result of the tool has no content: clients without views, and the model, get nothing"
	}
	return fmt.Sprintf("the result of the tool has only blank text (%d items): clients without views, and the model, get nothing", content.Len())
}
