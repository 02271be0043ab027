package html

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/term"
	"mcptest/internal/report/render"
)

// Sheet is a page about one measurement: tiles, charts and tables in the style of the
// page of a run, without a script. Its texts are escaped when it is written.
type Sheet struct {
	Verdict, Class string // Class: good, bad or warn
	Title, Command string
	Tool           string   // the program that writes the page, with its version
	Notes          []string // lines below the title
	Tiles          []Tile
	Plots          []Plot
	Tables         []Table
}

// Tile is a number and what it is.
type Tile struct{ Number, Text string }

// Table is a table. The first cell of a row names it; the others are numbers, or sentences.
type Table struct {
	Title     string
	Head      []string
	Rows      [][]string
	Sentences bool
}

// cellClass is the class of all cells but the first.
func (t Table) cellClass() string {
	if t.Sentences {
		return "says"
	}
	return "num"
}

// Plot is a chart of lines over a common axis from 0.
type Plot struct {
	Title string
	X, Y  func(float64) string // texts at the axes; nil: the number
	Lines []Line
	Bands []Band
}

// Line is a series of points by rising X.
type Line struct {
	Name   string
	Class  string // trace or high (measured), mean (fitted), need (a limit)
	Points [][2]float64
}

// Band is a range of X that is shaded.
type Band struct {
	Name     string
	From, To float64
}

// figure draws the plot.
func (p Plot) figure() *figure {
	const width, height, left, base, top = 1060.0, 260.0, 84.0, 236.0, 12.0
	endX, endY := 1e-9, 1e-9
	for _, l := range p.Lines {
		for _, at := range l.Points {
			endX, endY = max(endX, at[0]), max(endY, at[1])
		}
	}
	x := func(v float64) float64 { return left + (width-left-16)*v/endX }
	y := func(v float64) float64 { return base - (base-top)*max(v, 0)/endY }
	text := func(f func(float64) string, v float64) string {
		if f == nil {
			return render.Number(v)
		}
		return f(v)
	}
	f := &figure{Title: p.Title, Wide: true, Width: width, Height: height, Role: "img"}
	for _, b := range p.Bands {
		f.add(newRect("track", x(b.From), top, x(b.To)-x(b.From), base-top))
		f.add(newText("", x(b.From)+4, top+12, "start", term.Escape(b.Name)))
	}
	for _, v := range list5Ticks(endY) {
		f.add(newLine("sep", left, y(v), width-16, y(v)))
		f.add(newText("", left-8, y(v)+4, "end", text(p.Y, v)))
	}
	for _, v := range list5Ticks(endX) {
		f.add(newText("", x(v), base+16, "middle", text(p.X, v)))
	}
	f.add(newLine("axis", left, base, width-16, base))
	said := []string{p.Title}
	for _, l := range p.Lines {
		var path strings.Builder
		for i, at := range l.Points {
			fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(i, 1)], x(at[0]), y(at[1]))
		}
		f.add(shape{Kind: "line", Class: l.Class, Text: path.String()})
		if n := len(l.Points); n > 0 {
			first, last := l.Points[0][1], l.Points[n-1][1]
			said = append(said, fmt.Sprintf("%s from %s to %s", l.Name, text(p.Y, first), text(p.Y, last)))
		}
		if entry := (keyEntry{l.Class, l.Name}); !slices.Contains(f.Key, entry) {
			f.Key = append(f.Key, entry)
		}
	}
	f.Label = term.Escape(strings.Join(said, "; "))
	return f
}
