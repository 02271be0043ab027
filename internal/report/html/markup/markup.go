package markup

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io"
	"strings"

	"mcptest/internal/base/term"
	"mcptest/internal/report/render"
)

// Markup is a part of a page that is harmless where it is printed.
type Markup struct{ html string }

// escaper makes a text harmless in an element and in a quoted attribute.
var escaper = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "+", "&#43;", "\x00", "\ufffd",
)

// Text escapes a text for an element or a quoted attribute.
func Text(s string) Markup { return Markup{escaper.Replace(s)} }

// Line is Text on one line, with hidden characters made visible.
func Line(s string) Markup { return Text(term.Escape(s)) }

// Lines is Text on several lines, with hidden characters made visible.
func Lines(s string) Markup { return Text(term.EscapeLines(s)) }

// Short is Line, shortened.
func Short(s string) Markup { return Text(render.OneLine(s, render.LongestLine)) }

// Long is Line, shortened to four times the length of Short.
func Long(s string) Markup { return Text(render.OneLine(s, 4*render.LongestLine)) }

// Files returns the contents of embedded files, one after the other: the style or the
// script of a page. It panics if one is missing.
func Files(files embed.FS, names ...string) Markup {
	var b strings.Builder
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			panic(err) // the program was built without it
		}
		b.Write(data)
	}
	return Markup{b.String()}
}

// Policy returns the source of a content security policy that allows a style or script.
func (m Markup) Policy() Markup {
	sum := sha256.Sum256([]byte(m.html))
	return Markup{"'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"}
}

// IsEmpty reports whether there is nothing to print.
func (m Markup) IsEmpty() bool { return m.html == "" }

// WriteTo writes it as it is.
func (m Markup) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, m.html)
	return int64(n), err
}
