package probe

import (
	"slices"

	"mcptest/internal/base/source"
	"mcptest/internal/offer/surface"
)

// UnknownToolError reports that a tool that may be called is not listed.
type UnknownToolError struct {
	Name   string
	Listed []string
}

// Error names the tool, and the one that was meant.
func (e *UnknownToolError) Error() string {
	return "the server lists no tool " + e.Name + source.Parenthesis(source.DidYouMean(e.Name, e.Listed))
}

// unknownTool returns an error if a tool that the user named is listed in no revision. If
// a list could not be read, nothing is known.
func unknownTool(visits []visit, named []string) error {
	var listed []string
	for _, v := range visits {
		if v.err != nil {
			continue
		}
		names, complete := listTools(v)
		if !complete {
			return nil
		}
		listed = append(listed, names...)
	}
	slices.Sort(listed)
	listed = slices.Compact(listed)
	for _, name := range named {
		if !slices.Contains(listed, name) {
			return &UnknownToolError{name, listed}
		}
	}
	return nil
}

// listTools returns the names of the listed tools. They are not complete if the server has tools,
// but a page of their list could not be read.
func listTools(v visit) (names []string, complete bool) {
	for _, tool := range v.Tools {
		names = append(names, tool.Lookup("name").Text())
	}
	if v.Hello == nil {
		return nil, false
	}
	for _, l := range v.Listed {
		if l.Kind != surface.Tool {
			continue
		}
		for _, page := range l.Pages {
			if page.Result == nil {
				return nil, false
			}
		}
	}
	return names, true
}
