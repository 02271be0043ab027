package assert

import (
	"cmp"
	"strings"

	"mcptest/internal/base/source"
)

// Check is a matcher of surfaces; exactly one of its members is set.
type Check struct {
	Lock   *Lock
	Tokens *Tokens
	SameAs *SameAs
}

// Lock compares with a lock file.
type Lock struct {
	Pos source.Pos
	// The lock file; a folder with one file per server if it ends with a slash.
	File string `yaml:"file,required"`
	// The least serious class of changes that fails.
	FailOn string `yaml:"fail_on" enum:"breaking|trust|review|any"`
}

// Tokens limits how many tokens the definitions of tools take in the context of a
// model.
type Tokens struct {
	Pos source.Pos
	// Maximum for all tools together.
	Total *int `yaml:"total"`
	// Maximum for one tool.
	Tool *int `yaml:"tool"`
	// Maximum growth of the total since the lock file was written, such as 5%.
	Growth string `yaml:"growth"`
	// The lock file for growth; by default that of the entry's lock.
	Lock string `yaml:"lock"`

	growth float64
}

// SameAs names other ways to reach the server, or another server; the surface must be the
// same on all of them.
type SameAs struct {
	Pos source.Pos
	// Server is another server of the suite, such as a gateway.
	Server string `yaml:"server"`
	// Transports: those of the server's address, or of its variants.
	Transport []string `yaml:"transport" enum:"stdio|http|streamable-http|sse"`
	// Protocol revisions.
	Protocol []string `yaml:"protocol" enum:"2024-11-05|2025-03-26|2025-06-18|2025-11-25|2026-07-28"`
}

// Decode reads the argument of a matcher; nil if a mistake was reported.
func Decode(matcher string, n *source.Node, path string, d *source.Decoder) *Check {
	before := d.Count()
	c := new(Check)
	switch matcher {
	case "lock":
		c.Lock = &Lock{File: n.Text}
		if n.Kind != source.KindString {
			d.Decode(n, path, c.Lock)
		}
		if c.Lock.File == "" && d.Count() == before {
			d.Errorf(n, path, "the name of the lock file is empty")
		}
		c.Lock.FailOn = cmp.Or(c.Lock.FailOn, "any")
	case "tokens":
		c.Tokens = new(Tokens)
		d.Decode(n, path, c.Tokens)
		c.Tokens.check(n, path, d)
	default:
		c.SameAs = new(SameAs)
		d.Decode(n, path, c.SameAs)
		c.SameAs.check(n, path, d)
	}
	if d.Count() > before {
		return nil
	}
	return c
}

func (t *Tokens) check(n *source.Node, path string, d *source.Decoder) {
	if n.Kind != source.KindMap {
		return
	}
	for key, v := range map[string]*int{"total": t.Total, "tool": t.Tool} {
		if v != nil && *v < 1 && n.Get(key).Kind == source.KindInt {
			d.Errorf(n.Get(key), path+"."+key, "must be at least 1, got %d", *v).Code = "range"
		}
	}
	switch {
	case t.Total == nil && t.Tool == nil && t.Growth == "":
		d.Errorf(n, path, "missing key \"total\", \"tool\" or \"growth\"").Code = "missing-key"
	case t.Growth == "":
	case t.Lock == "":
		d.Errorf(n.Get("growth"), path+".growth", "growth is measured from a lock file, but lock: is missing").Hint = "add lock: and run mcptest lock"
	default:
		number, ok := strings.CutSuffix(t.Growth, "%")
		f, err := parsePercent(number)
		if !ok || err != nil || f < 0 {
			d.Errorf(n.Get("growth"), path+".growth", "expected a percentage such as 5%%, got %s", t.Growth)
		}
		t.growth = f
	}
}

func (s *SameAs) check(n *source.Node, path string, d *source.Decoder) {
	if n.Kind != source.KindMap {
		return
	}
	if server := n.Get("server"); server != nil && server.Kind == source.KindString && server.Text == "" {
		d.Errorf(server, path+".server", "the name of the server is empty")
		return
	}
	if s.Server == "" && len(s.Transport)+len(s.Protocol) == 0 {
		d.Errorf(n, path, "missing key \"server\", \"transport\" or \"protocol\"").Code = "missing-key"
	}
}
