package result

// decodeCase reads the JSON form of a case. Members it does not know are
// skipped, so that a record of a later version can be read.
func decodeCase(d *scanner, c *Case) {
	d.object(func(name string) {
		switch name {
		case "name":
			c.Name = d.str()
		case "status":
			c.Status = d.status()
		case "duration_ms":
			c.DurationMS = d.float()
		case "start_ms":
			c.StartMS = d.float()
		case "file":
			c.File = d.str()
		case "line":
			c.Line = d.int()
		case "column":
			c.Column = d.int()
		case "source":
			c.Source = d.str()
		case "suite":
			c.Suite = d.str()
		case "block":
			c.Block = d.str()
		case "server":
			c.Server = d.str()
		case "call":
			c.Call = d.str()
		case "tags":
			c.Tags = d.strs()
		case "message":
			c.Message = d.str()
		case "assertions":
			c.Assertions = items(d, decodeAssertion)
		default:
			decodeCaseRest(d, c, name)
		}
	})
	d.needs(c.Status)
}

// decodeCaseRest reads the members that most cases do not have.
func decodeCaseRest(d *scanner, c *Case, name string) {
	switch name {
	case "implicit":
		c.Implicit = d.bool()
	case "score":
		c.Score = d.optFloat()
	case "threshold":
		c.Threshold = d.optFloat()
	case "derived_metrics":
		c.DerivedMetrics = items(d, decodeMetric)
	case "flaky":
		c.Flaky = d.bool()
	case "attempts":
		c.Attempts = items(d, decodeAttempt)
	case "repeat":
		c.Repeat = decodeRepeat(d)
	case "known_failure":
		c.KnownFailure = decodeKnownFailure(d)
	case "after_restart":
		c.AfterRestart = d.bool()
	case "violations":
		c.Violations = items(d, decodeViolation)
	case "warnings":
		c.Warnings = d.strs()
	case "phases":
		c.Phases = items(d, decodePhase)
	case "exchanges":
		c.Exchanges = items(d, decodeExchange)
	case "stderr":
		c.Stderr = d.str()
	case "repro":
		c.Repro = d.str()
	default:
		d.skip()
	}
}

// status reads a verdict. Another word than the four is a fault: everything
// that is printed depends on it.
func (d *scanner) status() Status {
	at := d.i
	switch s := Status(d.str()); s {
	case Pass, Fail, Error, Skip:
		return s
	default:
		if d.err == nil {
			d.i = at
			d.fail("status %q: want pass, fail, error or skip", string(s))
		}
		return Error
	}
}

// needs faults an object that has no verdict.
func (d *scanner) needs(s Status) {
	if s == "" && d.err == nil {
		d.fail(`no "status"`)
	}
}

func decodeAssertion(d *scanner, a *Assertion) {
	d.object(func(name string) {
		switch name {
		case "name":
			a.Name = d.str()
		case "set":
			a.Set = d.bool()
		case "target":
			a.Target = d.str()
		case "matcher":
			a.Matcher = d.str()
		case "pass":
			a.Pass = d.bool()
		case "score":
			a.Score = d.optFloat()
		case "weight":
			a.Weight = d.optFloat()
		case "threshold":
			a.Threshold = d.optFloat()
		case "message":
			a.Message = d.str()
		case "expected":
			a.Expected = d.str()
		case "actual":
			a.Actual = d.str()
		case "diff":
			a.Diff = d.strs()
		case "notes":
			a.Notes = d.strs()
		case "file":
			a.File = d.str()
		case "line":
			a.Line = d.int()
		case "column":
			a.Column = d.int()
		case "source":
			a.Source = d.str()
		case "assertions":
			a.Assertions = items(d, decodeAssertion)
		default:
			d.skip()
		}
	})
}

func decodeMetric(d *scanner, m *Metric) {
	d.object(func(name string) {
		switch name {
		case "name":
			m.Name = d.str()
		case "value":
			m.Value = d.float()
		case "threshold":
			m.Threshold = d.optFloat()
		case "passed":
			if !d.null() {
				passed := d.bool()
				m.Passed = &passed
			}
		case "notes":
			m.Notes = d.strs()
		default:
			d.skip()
		}
	})
}

func decodeAttempt(d *scanner, a *Attempt) {
	d.object(func(name string) {
		switch name {
		case "status":
			a.Status = d.status()
		case "duration_ms":
			a.DurationMS = d.float()
		case "message":
			a.Message = d.str()
		case "phases":
			a.Phases = items(d, decodePhase)
		default:
			d.skip()
		}
	})
	d.needs(a.Status)
}

func decodeRepeat(d *scanner) *Repeat {
	if d.null() {
		return nil
	}
	r := &Repeat{}
	d.object(func(name string) {
		switch name {
		case "times":
			r.Times = d.int()
		case "passed":
			r.Passed = d.int()
		case "rate":
			r.Rate = d.float()
		default:
			d.skip()
		}
	})
	return r
}

func decodeKnownFailure(d *scanner) *KnownFailure {
	if d.null() {
		return nil
	}
	k := &KnownFailure{}
	d.object(func(name string) {
		switch name {
		case "status":
			k.Status = d.status()
		case "reason":
			k.Reason = d.str()
		default:
			d.skip()
		}
	})
	return k
}

func decodeViolation(d *scanner, v *Violation) {
	d.object(func(name string) {
		switch name {
		case "kind":
			v.Kind = d.str()
		case "message":
			v.Message = d.str()
		case "excerpt":
			v.Excerpt = d.str()
		case "offset":
			v.Offset = d.int64()
		case "tolerated":
			v.Tolerated = d.bool()
		default:
			d.skip()
		}
	})
}

func decodePhase(d *scanner, p *Phase) {
	d.object(func(name string) {
		switch name {
		case "phase":
			p.Phase = d.str()
		case "name":
			p.Name = d.str()
		case "status":
			p.Status = d.status()
		case "kind":
			p.Kind = d.str()
		case "start_ms":
			p.StartMS = d.float()
		case "duration_ms":
			p.DurationMS = d.float()
		case "message":
			p.Message = d.str()
		case "output":
			p.Output = d.str()
		case "warnings":
			p.Warnings = d.strs()
		case "file":
			p.File = d.str()
		case "line":
			p.Line = d.int()
		case "source":
			p.Source = d.str()
		default:
			d.skip()
		}
	})
	d.needs(p.Status)
}

func decodeExchange(d *scanner, x *Exchange) {
	d.object(func(name string) {
		switch name {
		case "step":
			x.Step = d.str()
		case "method":
			x.Method = d.str()
		case "request":
			x.Request = d.str()
		case "response":
			x.Response = d.str()
		case "during":
			x.During = items(d, decodeMessage)
		case "duration_ms":
			x.DurationMS = d.float()
		case "http":
			x.HTTP = decodeHTTP(d)
		case "error":
			x.Error = d.str()
		case "truncated":
			x.Truncated = d.bool()
		default:
			d.skip()
		}
	})
}

func decodeMessage(d *scanner, m *Message) {
	d.object(func(name string) {
		switch name {
		case "dir":
			m.Dir = d.str()
		case "ms":
			m.MS = d.float()
		case "raw":
			m.Raw = d.str()
		default:
			d.skip()
		}
	})
}

func decodeHTTP(d *scanner) *HTTPExchange {
	if d.null() {
		return nil
	}
	h := &HTTPExchange{}
	d.object(func(name string) {
		switch name {
		case "status":
			h.Status = d.int()
		case "headers":
			d.object(func(name string) {
				if h.Headers == nil {
					h.Headers = map[string]string{}
				}
				h.Headers[name] = d.str()
			})
		case "attempts":
			h.Attempts = d.int()
		default:
			d.skip()
		}
	})
	return h
}
