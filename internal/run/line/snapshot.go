package line

import (
	"mcptest/internal/assert/snapshot"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
)

// compare compares a selected value with its snapshot.
func (a *attempt) compare(name string, o *snapshot.Options, s target.Subject) snapshot.Comparison {
	f := a.file.Plan
	masked, unused := o.Mask(s.Target, a.redactValue(s), f.Dir)
	again := FormatRepro(f, a.c, a.file.RerunFlags) + UpdateFlag
	c := a.snapshots.Compare(a.file.Redact(name), masked, again)
	c.Unused = unused
	return c
}

// redactValue returns a value without secrets. Credentials that the exchanges reveal
// are masked everywhere in it, as in reports.
func (a *attempt) redactValue(s target.Subject) jsonv.Value {
	r := a.file.Redactor
	if r == nil {
		return s.Value
	}
	if s.Value.Kind() == jsonv.KindString && secret.HoldsText(s.Target, s.Value.Text()) {
		return jsonv.String(secret.Mask)
	}
	var found secret.Found
	for _, x := range a.out.c.Exchanges {
		r.Collect(x.Response, &found)
		for _, m := range x.During {
			r.Collect(m.Raw, &found)
		}
	}
	if !found.Empty() {
		r = r.With(found.All()...)
	}
	text := s.Value.String()
	clean := r.String(text)
	if clean == text {
		return s.Value
	}
	if v, err := jsonv.Parse([]byte(clean)); err == nil {
		return v
	}
	return jsonv.String(clean) // masking broke the JSON, for example of a number
}
