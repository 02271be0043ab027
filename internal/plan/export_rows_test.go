package plan

// SlowCase builds the i-th case by expanding what is written, whatever quick
// ways there are.
func SlowCase(p *Plan, i int) *Case {
	r := p.refs[i]
	t := *p.Files[r.file].templates[r.template]
	t.filled = rowFillings{}
	if t.expect != nil {
		slow := *t.expect
		slow.whole = true
		t.expect = &slow
	}
	c := t.build(int(r.row), int(r.server))
	c.Index, c.File = i, p.Files[r.file]
	return c
}

// QuickWays counts the parts of a plan's tests that have one.
func QuickWays(p *Plan) int {
	n := 0
	for _, f := range p.Files {
		for _, t := range f.templates {
			if t.filled.name != nil {
				n++
			}
			if t.filled.args != nil {
				n++
			}
			if t.expect != nil {
				for _, v := range t.expect.vary {
					if v.exact != nil {
						n++
					}
				}
			}
		}
	}
	return n
}
