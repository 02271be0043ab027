package apps

import (
	"slices"

	"mcptest/internal/base/jsonv"
)

// A Shown is a view with what hosts read of it.
type Shown struct {
	URI     string
	Tools   []string    // that have it
	Mime    string      // of the content, else of the list
	Meta    jsonv.Value // _meta.ui of the content, else of the list
	Failure string      // why it could not be read
}

// CSPLists are the members of csp, each a list of origins.
func CSPLists() []string { return slices.Clone(cspLists) }

// Shown are the views of a server, each in the first revision that has it.
func (s Server) Shown() (all []Shown) {
	j := newJudge(s)
	for _, revision := range s.listRevisions() {
		for _, uri := range s.Views(revision) {
			isKnown := func(v Shown) bool { return v.URI == uri }
			if slices.ContainsFunc(all, isKnown) {
				continue
			}
			meta, _ := j.findMeta(revision, uri)
			v := Shown{URI: uri, Meta: meta, Mime: j.listed[viewKey{revision, uri}].Lookup("mimeType").Text()}
			s.addRead(&v, revision)
			for _, l := range s.Listings {
				for _, tool := range l.Tools {
					name := tool.Lookup("name").Text()
					if l.Revision == revision && readView(tool).uri == uri && !slices.Contains(v.Tools, name) {
						v.Tools = append(v.Tools, name)
					}
				}
			}
			all = append(all, v)
		}
	}
	return all
}

// addRead adds what reading a view showed.
func (s Server) addRead(v *Shown, revision string) {
	for _, r := range s.Reads {
		if r.Revision != revision || r.URI != v.URI {
			continue
		}
		v.Failure = r.Failure
		if v.Failure == "" {
			v.Failure = r.Unknown
		}
		if v.Failure != "" {
			return
		}
		item, fault := findContent(r)
		if fault != "" {
			v.Failure = fault
			return
		}
		if mime := item.Lookup("mimeType").Text(); mime != "" {
			v.Mime = mime
		}
		return
	}
}
