package respond

import (
	"fmt"
	"maps"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/spec/suite"
)

// FindUnrequested returns the keys of scripted answers that the server never requested
// from any of the scripts, with their methods.
func FindUnrequested(written []*suite.Respond, scripts []*Script) []string {
	asked := map[string]bool{}
	for _, s := range scripts {
		s.mu.Lock()
		maps.Copy(asked, s.asked)
		s.mu.Unlock()
	}
	has := CapabilitiesOf(written...)
	var out []string
	for _, k := range []struct {
		scripted     bool
		kind, method string
	}{
		{has.sampling, "sampling", "sampling/createMessage"},
		{has.form, "elicitation", "elicitation/create"},
		{has.url, "elicitation with mode url", "elicitation/create"},
		{has.roots, "roots", "roots/list"},
	} {
		if k.scripted && !asked[k.kind] {
			out = append(out, k.kind+" ("+k.method+")")
		}
	}
	return out
}

// Hint explains the failure of a call that needs an answer which the suite does not
// script, or returns "": the server requested it, or says in its refusal that the client
// does not support it.
func Hint(has Capabilities, requests []jsonv.Value, refusal string) string {
	refusal = strings.ToLower(refusal)
	needs := map[string]bool{}
	for _, r := range requests {
		needs[findKind(r.Lookup("method").Text(), r.Lookup("params"))] = true
	}
	if strings.Contains(refusal, "elicit") {
		url := strings.Contains(refusal, "url")
		needs["elicitation with mode url"], needs["elicitation"] = url, needs["elicitation"] || !url
	}
	const only = "mcptest declares %s only if it is scripted: respond: {%s}"
	switch {
	case needs["elicitation"] && !has.form:
		return fmt.Sprintf(only, "elicitation", "elicitation: {action: accept, content: {…}}")
	case needs["elicitation with mode url"] && !has.url:
		return fmt.Sprintf(only, "elicitation by URL", "elicitation: {action: accept, mode: url}")
	case needs["sampling"] && !has.sampling:
		return fmt.Sprintf(only, "sampling", "sampling: {text: …}")
	case needs["roots"] && !has.roots:
		return fmt.Sprintf(only, "roots", "roots: [{uri: …}]")
	}
	return ""
}
