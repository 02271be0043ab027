package packet

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"mcptest/internal/base/source"
)

// The kinds of fields.
const (
	kindOwner       = "owner"
	kindName        = "name"
	kindDescription = "description"
	kindWebsite     = "website"
	kindIcon        = "icon"
	kindVersion     = "version"
	kindAddress     = "address"
	kindTransport   = "transport"
	kindAccess      = "access"
	kindSignIn      = "sign_in"
	kindOffers      = "offers"
	kindTools       = "tools"
	kindViews       = "views"
	kindChallenge   = "challenge"
	kindPrompts     = "prompts"
	kindPositive    = "positive"
	kindNegative    = "negative"
)

// A Form is what one directory asks for.
type Form struct {
	Directory string `yaml:"directory,required"` // the profile of package compat
	Title     string `yaml:"title,required"`
	Portal    string `yaml:"portal,required"` // where the form is

	fields []Field
}

// A Field is one thing that a form asks for.
type Field struct {
	Pos     source.Pos
	Form    string   `yaml:"form,required"`
	Section string   `yaml:"section,required"`
	Label   string   `yaml:"label,required"`
	Kind    string   `yaml:"kind,required" enum:"owner|name|description|website|icon|version|address|transport|access|sign_in|offers|tools|views|challenge|prompts|positive|negative"`
	Limit   int      `yaml:"limit"`  // in characters; 0: none is known
	Count   int      `yaml:"count"`  // of cases or prompts
	Hints   []string `yaml:"hints"`  // that every tool must have
	Either  []string `yaml:"either"` // hints, of which every tool must have one
	Reasons []string `yaml:"reasons"`
	Asks    []string `yaml:"asks"` // what a case needs besides: data, why
	Path    string   `yaml:"path"` // of the challenge
	When    string   `yaml:"when" enum:"views"`
	Note    string   `yaml:"note"`
	Source  string   `yaml:"source,required"`
	Seen    string   `yaml:"seen,required"` // the day on which the source was last read
	Expires string   `yaml:"expires,required"`
}

// isExpired reports whether nobody has confirmed the field for too long.
func (f Field) isExpired(today time.Time) bool { return today.Format(time.DateOnly) > f.Expires }

//go:embed fields.yaml
var builtin []byte

// Builtin returns the forms. They are decoded once.
var Builtin = sync.OnceValues(func() ([]Form, error) { return load(builtin) })

func load(data []byte) ([]Form, error) {
	var all struct {
		Forms  []Form  `yaml:"forms,required"`
		Fields []Field `yaml:"fields,required"`
	}
	node, ds := source.Parse(&source.File{Name: "fields.yaml", Data: data})
	var d source.Decoder
	if !ds.HasErrors() {
		d.Decode(node, "", &all)
		ds = append(ds, d.Diagnostics()...)
	}
	if ds.HasErrors() {
		return nil, fmt.Errorf("fields of forms: %s", ds[0].Msg)
	}
	for _, field := range all.Fields {
		if err := field.check(); err != nil {
			return nil, fmt.Errorf("fields of forms: %s of %s: %w", field.Label, field.Form, err)
		}
		i := slices.IndexFunc(all.Forms, func(form Form) bool { return form.Directory == field.Form })
		if i < 0 {
			return nil, fmt.Errorf("fields of forms: %s: unknown form %q", field.Label, field.Form)
		}
		all.Forms[i].fields = append(all.Forms[i].fields, field)
	}
	return all.Forms, nil
}

// check reports a field without evidence.
func (f Field) check() error {
	if !strings.HasPrefix(f.Source, "https://") {
		return fmt.Errorf("source %q is no address", f.Source)
	}
	seen, err := time.Parse(time.DateOnly, f.Seen)
	if err != nil {
		return fmt.Errorf("seen: expected a day such as 2026-10-05, got %q", f.Seen)
	}
	expires, err := time.Parse(time.DateOnly, f.Expires)
	if err != nil || !expires.After(seen) {
		return fmt.Errorf("expires: expected a day after %s, got %q", f.Seen, f.Expires)
	}
	return nil
}

// Named returns the form of a directory.
func Named(forms []Form, directory string) (Form, bool) {
	for _, form := range forms {
		if form.Directory == directory {
			return form, true
		}
	}
	return Form{}, false
}

// ChallengePath is the path that proves who owns the domain; "" if the form asks for none.
func (f Form) ChallengePath() string {
	for _, field := range f.fields {
		if field.Kind == kindChallenge {
			return field.Path
		}
	}
	return ""
}

// listSections are those of the form, in their order.
func (f Form) listSections() (names []string) {
	for _, field := range f.fields {
		if !slices.Contains(names, field.Section) {
			names = append(names, field.Section)
		}
	}
	return names
}
