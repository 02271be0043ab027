package explain

import (
	"fmt"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// Limits of the missing items that are shown, unless the report is verbose.
const (
	mostMissing   = 12
	mostSkeletons = 3
)

// Coverage is the coverage of one server, as text.
type Coverage struct {
	Server string
	Line   string // tools 8/10 · arguments 21/40
	// Missing lists what no test examines.
	Missing []string
	// Skeleton contains drafts of tests as YAML; "" if nothing is missing.
	Skeleton string
}

// String returns the coverage in one line.
func (c *Coverage) String() string { return "coverage of " + c.Server + ": " + c.Line }

// missingWords describe the missing items of each part of a surface.
var missingWords = map[string]string{
	result.Tools: "tools without a test", result.Arguments: "arguments never sent", result.EnumValues: "values never sent",
	result.NestedArguments: "nested arguments never sent",
	result.Resources:       "resources without a test", result.Prompts: "prompts without a test", result.Annotations: "hints without an assertion",
}

// ListCoverages returns the coverage of each server, or nothing if it was not measured.
// The texts are escaped.
func ListCoverages(r *result.Run, verbose bool) (out []Coverage) {
	if r.Coverage == nil {
		return nil
	}
	for i := range r.Coverage.Servers {
		s := &r.Coverage.Servers[i]
		c := Coverage{Server: term.Escape(s.Server)}
		var parts []string
		for _, p := range s.Parts {
			if p.Total > 0 || p.Minimum != nil && s.Unknown == "" {
				parts = append(parts, fmt.Sprintf("%s %d/%d", strings.ReplaceAll(term.Escape(p.Of), "_", " "), p.Covered, p.Total))
			}
			if len(p.Missing) > 0 {
				c.Missing = append(c.Missing, missingWords[p.Of]+": "+joinFirstNames(p.Missing, verbose))
			}
		}
		if s.Tokens > 0 {
			parts = append(parts, "about "+display.Count(s.Tokens, "token"))
		}
		c.Line = strings.Join(parts, " · ")
		switch {
		case s.Unknown != "":
			c.Line = "unknown: " + render.OneLine(s.Unknown, render.LongestLine)
		case c.Line == "":
			c.Line = "the server offers nothing"
		}
		if r.Coverage.Partial != "" {
			c.Line += " (not judged: " + render.OneLine(r.Coverage.Partial, render.LongestLine) + ")"
		}
		if len(s.Unasserted) > 0 {
			c.Missing = append(c.Missing, "called without an assertion on the result, which tests nothing: "+joinFirstNames(s.Unasserted, verbose))
		}
		c.Skeleton = makeSkeleton(s, verbose)
		out = append(out, c)
	}
	return out
}

// joinFirstNames returns the first of the names.
func joinFirstNames(names []string, verbose bool) string {
	most, more := len(names), ""
	if !verbose && most > mostMissing {
		most, more = mostMissing, fmt.Sprintf(" and %d more", most-mostMissing)
	}
	return render.OneLine(strings.Join(names[:most], ", "), 4*render.LongestLine) + more
}

// makeSkeleton joins the drafts of a server's tests, by block.
func makeSkeleton(s *result.ServerCoverage, verbose bool) string {
	var b strings.Builder
	n, block := 0, ""
	for _, k := range s.Skeletons {
		n++
		if n > mostSkeletons && !verbose {
			fmt.Fprintf(&b, "# and %s\n", display.Count(len(s.Skeletons)-mostSkeletons, "more draft"))
			break
		}
		if k.Of != block {
			block = k.Of
			b.WriteString(term.Escape(block) + ":\n")
		}
		for line := range strings.Lines(term.EscapeLines(k.YAML)) {
			if !strings.HasPrefix(line, "  ") {
				b.WriteString("  ") // the line must not look like one of the report
			}
			b.WriteString(line)
		}
	}
	return b.String()
}
