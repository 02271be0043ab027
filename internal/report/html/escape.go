package html

import (
	"github.com/valyala/quicktemplate"

	"mcptest/internal/base/display"
	"mcptest/internal/report/html/markup"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

//go:generate go tool qtc -skipLineComments

// A template writes all values with the following functions, which it calls without
// the prefix "stream". Only streamown prints, and only what package markup made.

func streamown(w *quicktemplate.Writer, m markup.Markup) { _, _ = m.WriteTo(w.W()) }

func streamtext(w *quicktemplate.Writer, s string)  { streamown(w, markup.Text(s)) }
func streamline(w *quicktemplate.Writer, s string)  { streamown(w, markup.Line(s)) }
func streamlines(w *quicktemplate.Writer, s string) { streamown(w, markup.Lines(s)) }
func streamshort(w *quicktemplate.Writer, s string) { streamown(w, markup.Short(s)) }
func streamlong(w *quicktemplate.Writer, s string)  { streamown(w, markup.Long(s)) }

func streamat(w *quicktemplate.Writer, c coordinate)          { streamtext(w, c.String()) }
func streamnumber(w *quicktemplate.Writer, v float64)         { streamtext(w, render.Number(v)) }
func streamduration(w *quicktemplate.Writer, ms float64)      { streamtext(w, render.Duration(ms)) }
func streamcount(w *quicktemplate.Writer, n int, noun string) { streamtext(w, display.Count(n, noun)) }
func streamclass(w *quicktemplate.Writer, st result.Status)   { streamtext(w, statusClass(st)) }
func streamglyph(w *quicktemplate.Writer, st result.Status)   { streamtext(w, statusGlyph(st)) }
