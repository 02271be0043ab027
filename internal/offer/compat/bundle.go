package compat

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/process/bundle"
)

// bundleSubject is the subject of findings about a bundle.
const bundleSubject = "manifest.json"

// detectBundleFaults returns a detector of one kind of faults.
func detectBundleFaults(kind bundle.Kind) func(List) []place {
	return func(l List) (out []place) {
		if l.Bundle == nil {
			return nil
		}
		for _, f := range l.Bundle.Faults(l.Bundle.Given) {
			if f.Kind == kind {
				out = append(out, place{
					subject: bundleSubject, pointer: f.Pointer, value: jsonv.String(f.Text), line: f.Line,
				})
			}
		}
		return out
	}
}

// findBundleTools finds tools that only the manifest or only the server has.
func findBundleTools(l List) []place {
	if l.Bundle == nil || l.Tools == nil || l.Bundle.Manifest.ToolsGenerated {
		return nil
	}
	listed := lists.Map(l.Tools, nameOf)
	return l.Bundle.compareNames("tool", "/tools", l.Bundle.Manifest.Tools, listed)
}

// findBundlePrompts finds prompts that only the manifest or only the server has.
func findBundlePrompts(l List) []place {
	if l.Bundle == nil || l.Tools == nil || l.Bundle.Manifest.PromptsGenerated {
		return nil
	}
	var listed []string
	for _, d := range l.Others {
		if name, isPrompt := strings.CutPrefix(d.Subject, "prompt "); isPrompt {
			listed = append(listed, name)
		}
	}
	return l.Bundle.compareNames("prompt", "/prompts", l.Bundle.Manifest.Prompts, listed)
}

// compareNames compares names in the manifest with those that the server lists. A manifest
// without any is silent about them.
func (b *Bundle) compareNames(what, pointer string, declared []bundle.Named, listed []string) (out []place) {
	if len(declared) == 0 {
		return nil
	}
	names := lists.Map(declared, func(n bundle.Named) string { return n.Name })
	add := func(text string) {
		out = append(out, place{
			subject: bundleSubject, pointer: pointer, value: jsonv.String(text), line: b.Line(pointer),
		})
	}
	for _, name := range names {
		if !slices.Contains(listed, name) {
			add("the manifest has the " + what + " " + name + ", and the server does not list it")
		}
	}
	for _, name := range listed {
		if !slices.Contains(names, name) {
			add("the server lists the " + what + " " + name + ", and the manifest does not have it")
		}
	}
	return out
}

// findBundleStray finds output before the first message.
func findBundleStray(l List) []place {
	if l.Bundle == nil || l.Bundle.Stray == "" {
		return nil
	}
	return []place{{subject: "start", value: jsonv.String(l.Bundle.Stray)}}
}
