package line

import (
	"mcptest/internal/assert/snapshot"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/report/result"
	"mcptest/internal/spec/plan"
)

// comparer compares values of a case with its snapshots.
type comparer struct {
	file      *File
	c         *plan.Case
	record    *result.Case // whose exchanges may reveal credentials
	snapshots *snapshot.Test
}

// compare compares a selected value with its snapshot.
func (cm comparer) compare(name string, o *snapshot.Options, s target.Subject) snapshot.Comparison {
	f := cm.file.Plan
	masked, unused := o.Mask(s.Target, cm.redactValue(s), f.Dir)
	again := FormatRepro(f, cm.c, cm.file.RerunFlags) + UpdateFlag
	c := cm.snapshots.Compare(cm.file.Redact(name), masked, again)
	c.Unused = unused
	return c
}

// redactValue returns a value without secrets. Credentials that the exchanges reveal
// are masked everywhere in it, as in reports.
func (cm comparer) redactValue(s target.Subject) jsonv.Value {
	r := cm.file.Redactor
	if r == nil {
		return s.Value
	}
	if s.Value.Kind() == jsonv.KindString && secret.HoldsText(s.Target, s.Value.Text()) {
		return jsonv.String(secret.Mask)
	}
	var found secret.Found
	for _, x := range cm.record.Exchanges {
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
