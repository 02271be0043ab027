package html

import (
	"strings"

	"github.com/valyala/quicktemplate"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

//go:generate go tool qtc -skipLineComments

// escaper makes a text harmless in an element and in a quoted attribute.
var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "+", "&#43;", "\x00", "\ufffd")

// A template writes all values with the following functions, which it calls without
// the prefix "stream". Only streamown does not escape.

func streamown(w *quicktemplate.Writer, s string)   { w.N().S(s) }
func streamtext(w *quicktemplate.Writer, s string)  { _, _ = escaper.WriteString(w.W(), s) }
func streamline(w *quicktemplate.Writer, s string)  { streamtext(w, term.Escape(s)) }
func streamlines(w *quicktemplate.Writer, s string) { streamtext(w, term.EscapeLines(s)) }
func streamshort(w *quicktemplate.Writer, s string) {
	streamtext(w, render.OneLine(s, render.LongestLine))
}

func streamlong(w *quicktemplate.Writer, s string) {
	streamtext(w, render.OneLine(s, 4*render.LongestLine))
}
func streamat(w *quicktemplate.Writer, c coordinate)          { streamtext(w, c.String()) }
func streamnumber(w *quicktemplate.Writer, v float64)         { streamtext(w, render.Number(v)) }
func streamduration(w *quicktemplate.Writer, ms float64)      { streamtext(w, render.Duration(ms)) }
func streamcount(w *quicktemplate.Writer, n int, noun string) { streamtext(w, display.Count(n, noun)) }
func streamclass(w *quicktemplate.Writer, st result.Status)   { streamtext(w, statusClass(st)) }
func streamglyph(w *quicktemplate.Writer, st result.Status)   { streamtext(w, statusGlyph(st)) }
