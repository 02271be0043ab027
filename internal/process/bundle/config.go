package bundle

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
)

// Config are the values that the user sets.
type Config struct {
	Values source.Map[*source.Node]
	Path   string     // of Values in the suite
	Pos    source.Pos // where a missing value belongs; zero on a command line
	Dir    string     // files and folders are relative to it
}

// System is where the bundle is started.
type System struct {
	Platform string // linux, darwin or win32
	Home     string
}

// Platform returns the name of a system of Go in manifests.
func Platform(goos string) string {
	if goos == "windows" {
		return "win32"
	}
	return goos
}

// separator is the separator of paths.
func (s System) separator() string {
	if s.Platform == "win32" {
		return `\`
	}
	return "/"
}

// listVariables returns the values that hosts provide.
func (s System) listVariables(folder string) map[string]string {
	in := func(name string) string { return s.Home + s.separator() + name }
	return map[string]string{
		"__dirname":     folder,
		"HOME":          s.Home,
		"DESKTOP":       in("Desktop"),
		"DOCUMENTS":     in("Documents"),
		"DOWNLOADS":     in("Downloads"),
		"pathSeparator": s.separator(),
		"/":             s.separator(),
	}
}

// setting is the value of an option.
type setting struct {
	texts []string
	list  bool
}

// settings are the values of options, by their names.
type settings struct {
	m      *Manifest
	fixed  map[string]string
	d      source.Decoder
	values map[string]setting
	given  map[string]bool
}

// newSettings reads the values of the user and the defaults, and reports mistakes.
func (b *Bundle) newSettings(c Config, sys System, folder string) *settings {
	s := &settings{
		m:      b.Manifest,
		fixed:  sys.listVariables(folder),
		values: map[string]setting{},
		given:  map[string]bool{},
	}
	names := b.Manifest.Options.Keys()
	for _, e := range c.Values.Entries {
		o, known := b.Manifest.Options.Get(e.Key)
		path := source.PathKey(c.Path, e.Key)
		if !known {
			s.d.ErrorAt(e.Pos, path, fmt.Sprintf("the bundle has no option %q", e.Key), hintOptions(e.Key, names))
			continue
		}
		s.given[e.Key] = true
		if v, ok := s.read(o, e.Value, path, c.Dir); ok {
			s.values[e.Key] = v
		}
	}
	for _, e := range b.Manifest.Options.Entries {
		if !s.given[e.Key] {
			s.useDefault(b, c, e)
		}
	}
	return s
}

// hintOptions names the options of a bundle.
func hintOptions(key string, names []string) string {
	if near := source.DidYouMean(key, names); near != "" {
		return near
	}
	if len(names) == 0 {
		return "its manifest has no user_config"
	}
	return "its options: " + display.List(names, 12)
}

// useDefault gives an option its default, or reports that its value is missing.
func (s *settings) useDefault(b *Bundle, c Config, e source.Entry[Option]) {
	o, path := e.Value, source.PathKey("user_config", e.Key)
	if o.Default != nil {
		n := o.Default.MapScalars(func(n *source.Node) *source.Node {
			if n.Kind != source.KindString {
				return n
			}
			return n.WithText(s.fillText(n.Text))
		})
		if v, ok := s.read(o, n, path+".default", ""); ok {
			s.values[e.Key] = v
		}
		return
	}
	if !o.Required {
		return
	}
	line := fmt.Sprintf("command: {bundle: %s, config: {%s: …}}", filepath.Base(b.Name), e.Key)
	d := source.Errorf(e.Pos, path, "the option is required and has no value")
	d.Hint = "in a suite: " + line
	if !c.Pos.IsZero() {
		d = source.Errorf(c.Pos, c.Path, "the option %q of the bundle is required and has no value", e.Key)
		d.Hint, d.Related = line, []source.Related{{Pos: e.Pos, Msg: "declared here"}}
	}
	s.d.Add(d)
}

// read converts a value to texts, as the host does.
func (s *settings) read(o Option, n *source.Node, path, dir string) (v setting, ok bool) {
	items := []*source.Node{n}
	if n.Kind == source.KindList {
		if !o.Multiple {
			s.d.ReportWrongType(n, path, "one value").Hint = "only an option with multiple: true takes a list"
			return v, false
		}
		v.list, items = true, n.Items
	}
	v.list = v.list || o.Multiple
	ok = true
	for i, item := range items {
		at := path
		if n.Kind == source.KindList {
			at = source.PathIndex(path, i)
		}
		text, fits := s.formatScalar(o, item, at)
		ok = ok && fits
		isPath := o.Type == "directory" || o.Type == "file"
		isRelative := text != "" && !filepath.IsAbs(text)
		if fits && isPath && isRelative && dir != "" {
			text = filepath.Join(dir, filepath.FromSlash(text)) // hosts pass what a person chose in a dialog
		}
		v.texts = append(v.texts, text)
	}
	return v, ok
}

// formatScalar converts one value to text.
func (s *settings) formatScalar(o Option, n *source.Node, path string) (text string, ok bool) {
	n = n.Typed()
	switch o.Type {
	case "number":
		return s.number(o, n, path)
	case "boolean":
		if n.Kind != source.KindBool {
			s.d.ReportWrongType(n, path, "true or false")
			return "", false
		}
		return n.Text, true
	}
	text, ok = n.AsText()
	if !ok {
		d := s.d.ReportWrongType(n, path, "text")
		if n.IsScalar() && n.Kind != source.KindNull {
			d.Hint = fmt.Sprintf("put it in quotes: %q", n.Text)
		}
	}
	return text, ok
}

// number converts a number to text.
func (s *settings) number(o Option, n *source.Node, path string) (text string, ok bool) {
	x, err := strconv.ParseFloat(n.Text, 64)
	switch {
	case n.Kind != source.KindInt && n.Kind != source.KindFloat || err != nil:
		s.d.ReportWrongType(n, path, "a number")
		return "", false
	case o.Min != nil && x < *o.Min:
		s.d.Errorf(n, path, "%s is less than the minimum of the option, %v", n.Text, *o.Min)
		return "", false
	case o.Max != nil && x > *o.Max:
		s.d.Errorf(n, path, "%s is more than the maximum of the option, %v", n.Text, *o.Max)
		return "", false
	}
	if math.Abs(x) < 1e21 && (x == 0 || math.Abs(x) >= 1e-6) {
		return strconv.FormatFloat(x, 'f', -1, 64), true
	}
	return strconv.FormatFloat(x, 'g', -1, 64), true
}

// listSecrets returns the values of options that are sensitive.
func (s *settings) listSecrets() (out []string) {
	for _, e := range s.m.Options.Entries {
		if e.Value.Sensitive {
			out = append(out, s.values[e.Key].texts...)
		}
	}
	return slices.DeleteFunc(out, func(text string) bool { return text == "" })
}

// userPrefix begins the names of the variables of options.
const userPrefix = "user_config."

// fillText replaces the variables in a text. What has no value, or several, stays as it is
// written, as the host leaves it.
func (s *settings) fillText(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		name, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			b.WriteString(text)
			return b.String()
		}
		if strings.Contains(name, "${") { // the first one is not closed
			b.WriteString(before + "${")
			text = rest
			continue
		}
		b.WriteString(before)
		if value, ok := s.value(name); ok {
			b.WriteString(value)
		} else {
			b.WriteString("${" + name + "}")
		}
		text = after
	}
}

// value returns the value of a variable that is one text.
func (s *settings) value(name string) (string, bool) {
	if v, ok := s.fixed[name]; ok {
		return v, true
	}
	key, ofUser := strings.CutPrefix(name, userPrefix)
	v, ok := s.values[key]
	if !ofUser || !ok || v.list {
		return "", false
	}
	return v.texts[0], true
}

// findWholeOption returns the name of the option that an argument consists of, or "".
func findWholeOption(arg string) string {
	name, ok := strings.CutPrefix(arg, "${"+userPrefix)
	if !ok {
		return ""
	}
	name, ok = strings.CutSuffix(name, "}")
	if !ok || strings.Contains(name, "}") {
		return ""
	}
	return name
}

// fillArgs replaces the variables in arguments: an option with several values becomes several
// arguments, and one without a value, or with an empty one, stays as it is written.
func (s *settings) fillArgs(args []string) (out []string) {
	for _, arg := range args {
		name := findWholeOption(arg)
		v, known := s.values[name]
		switch {
		case name == "":
			out = append(out, s.fillText(arg))
		case !known || !v.list && v.texts[0] == "":
			out = append(out, arg)
		default:
			out = append(out, v.texts...)
		}
	}
	return out
}

// fillEnv replaces the variables in an environment.
func (s *settings) fillEnv(env source.Map[string]) []string {
	return lists.Map(env.Entries, func(e source.Entry[string]) string { return e.Key + "=" + s.fillText(e.Value) })
}
