package snapshot

import (
	"regexp"
	"slices"

	"mcptest/internal/assert/jsonpath"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/source"
)

// Options are the settings of one snapshot in a suite.
type Options struct {
	Name   string // "" if the suite gives none
	masks  []mask
	ignore []ignore
	marks  *regexp.Regexp // finds the marks that masks leave
	taken  *regexp.Regexp // finds text of a server that looks like one
}

// ignore is a path to values that do not count.
type ignore struct {
	text  string
	steps []jsonpath.Step
}

// Schema is the JSON Schema of the argument that Compile takes.
const Schema = `{"oneOf":[{"const":true},{"type":"string","minLength":1},{"type":"object","additionalProperties":false,"properties":{` +
	`"name":{"type":"string","minLength":1},"ignore":{"type":"array","items":{"type":"string","minLength":1}},` +
	`"mask":{"type":"array","items":{"anyOf":[{"enum":["default","suite-dir","tmp","uuid","timestamp","duration","id"]},` +
	`{"type":"object","minProperties":1,"propertyNames":{"pattern":"^[a-z][a-z0-9-]*$"},"additionalProperties":{"type":"string"}}]}}}}]}`

// Compile reads the argument of a snapshot: true, a name, or a map. It returns
// nil if a mistake was reported to d.
func Compile(d *source.Decoder, n *source.Node, path string) *Options {
	const forms = "true, a name, or a map with name, ignore and mask"
	before := d.Count()
	o := &Options{masks: masks()}
	n = n.Typed()
	switch {
	case n.Kind == source.KindBool && n.Text == "true":
	case n.Kind == source.KindString:
		o.name(d, n, path)
	case n.Kind == source.KindMap:
		for _, f := range n.Fields {
			at := source.PathKey(path, f.Key.Text)
			switch f.Key.Text {
			case "name":
				o.name(d, f.Value, at)
			case "ignore":
				o.ignoring(d, f.Value, at)
			case "mask":
				o.masking(d, f.Value, at)
			default:
				d.ReportUnknownKey(f.Key, path, []string{"name", "ignore", "mask"})
			}
		}
	default:
		d.ReportWrongType(n, path, forms)
	}
	if d.Count() > before {
		return nil
	}
	return o.compile()
}

// Default returns the options of a snapshot that says nothing about masks.
func Default() *Options {
	o := &Options{masks: masks()}
	return o.compile()
}

// compile prepares the options for their masks.
func (o *Options) compile() *Options {
	names := append(builtin(), ignored)
	for _, m := range o.masks {
		if !slices.Contains(names, m.name) {
			names = append(names, m.name)
		}
	}
	o.marks, o.taken = marks(names, ""), marks(names, `\\*`)
	return o
}

func (o *Options) name(d *source.Decoder, n *source.Node, path string) {
	switch {
	case n.Kind != source.KindString || n.Text == "":
		d.ReportWrongType(n, path, "the name of the snapshot")
	case n.Origin == source.FromServer:
		d.Errorf(n, path, "the server under test must not choose the name of a snapshot")
	}
	o.Name = n.Text
}

func (o *Options) ignoring(d *source.Decoder, n *source.Node, path string) {
	if n.Kind != source.KindList {
		d.ReportWrongType(n, path, "a list of paths")
		return
	}
	for i, item := range n.Items {
		at := source.PathIndex(path, i)
		if item.Kind != source.KindString || item.Text == "" || item.Text == "$" {
			d.ReportWrongType(item, at, "a path below the target, such as items[*].etag")
			continue
		}
		steps, _, err := jsonpath.Parse(item.Text)
		if err != nil {
			diag := d.Errorf(item, at, "%s", err.Msg)
			diag.Hint, diag.Pos = err.Hint, item.In(err.Offset)
			continue
		}
		o.ignore = append(o.ignore, ignore{item.Text, steps})
	}
}

func (o *Options) masking(d *source.Decoder, n *source.Node, path string) {
	if n.Kind != source.KindList {
		d.ReportWrongType(n, path, "a list of masks")
		return
	}
	o.masks = nil
	names := append([]string{"default"}, builtin()...)
	for i, item := range n.Items {
		at := source.PathIndex(path, i)
		j := slices.Index(names, item.Text)
		switch {
		case item.Kind == source.KindMap && len(item.Fields) > 0:
			for _, f := range item.Fields {
				o.ownMask(d, f, source.PathKey(at, f.Key.Text))
			}
		case item.Kind != source.KindString:
			d.ReportWrongType(item, at, "the name of a mask, or {name: regular expression}")
		case j < 0:
			d.Errorf(item, at, "unknown mask %q%s", item.Text, source.Parenthesis(source.DidYouMean(item.Text, names))).Hint =
				"write your own as {" + item.Text + ": 'regular expression'}"
		case j == 0:
			o.masks = append(o.masks, masks()...)
		default:
			o.masks = append(o.masks, masks()[j-1])
		}
	}
}

var maskName = lazy.Regexp(`^[a-z][a-z0-9-]{0,30}$`)

func (o *Options) ownMask(d *source.Decoder, f source.Field, path string) {
	name := f.Key.Text
	switch {
	case !maskName().MatchString(name):
		d.Errorf(f.Key, path, "the name of a mask has lower-case letters, digits and hyphens, got %q", name)
	case name == "default" || name == ignored || slices.Contains(builtin(), name):
		d.Errorf(f.Key, path, "%s is the name of a built-in mask", name).Hint = "choose another name"
	case f.Value.Kind != source.KindString:
		d.ReportWrongType(f.Value, path, "a regular expression")
	default:
		re, err := regexp.Compile(f.Value.Text)
		switch {
		case err != nil:
			d.Errorf(f.Value, path, "%s", err.Error())
		case re.MatchString(""):
			d.Errorf(f.Value, path, "the regular expression matches the empty text, which is everywhere")
		case re.ReplaceAllString("a", "")+re.ReplaceAllString("0 %", "")+re.ReplaceAllString(`É."\/-`, "") == "":
			d.Errorf(f.Value, path, "the regular expression matches any text: the snapshot would not notice a change").Hint = "name what surrounds the value, such as 'build \\d+'"
		default:
			o.masks = append(o.masks, mask{name: name, re: re})
		}
	}
}
