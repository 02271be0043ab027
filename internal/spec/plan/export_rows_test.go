package plan

// WholeCase builds the i-th case and compiles all its assertions, not only those that
// mention the row.
func WholeCase(p *Plan, i int) *Case {
	r := p.refs[i]
	t := *p.Files[r.file].templates[r.template]
	if t.expect != nil {
		whole := *t.expect
		whole.whole = true
		t.expect = &whole
	}
	c := t.build(int(r.row), int(r.server))
	c.Index, c.File = i, p.Files[r.file]
	return c
}

// ItemsByRow counts the assertions that are compiled separately for each row.
func ItemsByRow(p *Plan) int {
	n := 0
	for _, f := range p.Files {
		for _, t := range f.templates {
			if t.expect != nil && !t.expect.whole {
				n += len(t.expect.vary)
			}
		}
	}
	return n
}
