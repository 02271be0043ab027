package plan

import (
	"slices"

	"mcptest/internal/source"
)

// pending is a key that parses and validates although nothing executes it yet.
type pending struct {
	key  string // below servers.<name>; what its value is does not matter but to uses
	msg  string
	uses func(*Server) bool
}

// notYet is the whole list of such keys. A row goes when its runtime is there.
// The first row that fits a server is reported.
var notYet = []pending{
	{"auth", "auth.oauth: only client_credentials, and authorization_code with headless: true, are supported yet", func(s *Server) bool {
		return s.Auth != nil && s.Auth.OAuth != nil && s.Auth.OAuth.Grant != "client_credentials" && !s.Auth.OAuth.Headless
	}},
}

// NotYet reports what the selected cases need that parses and validates but
// can't be executed by this version: running it would do something else than
// the suite says.
func NotYet(p *Plan) source.Diagnostics { return p.pending(notYet) }

func (p *Plan) pending(keys []pending) source.Diagnostics {
	var diags source.Diagnostics
	seen := map[*Server]bool{}
	for _, s := range p.needs() {
		if s == nil || seen[s] {
			continue
		}
		seen[s] = true
		i := slices.IndexFunc(keys, func(k pending) bool { return k.uses(s) })
		if i < 0 {
			continue
		}
		diags = append(diags, source.Diagnostic{
			Pos: s.def.KeyPos(keys[i].key), Path: source.PathKey("servers", s.Name) + "." + keys[i].key,
			Msg: keys[i].msg, Code: "not-yet",
		})
	}
	return diags
}

// needs lists the servers that the selected cases and their files' fixtures
// use, some of them more than once.
func (p *Plan) needs() []*Server {
	var out []*Server
	last := ref{file: -1}
	for _, r := range p.refs {
		f := p.Files[r.file]
		t := f.templates[r.template]
		if r.file != last.file {
			for _, list := range [][]*Step{f.Setup, f.SetupPerTest, f.Teardown} {
				for _, st := range list {
					if st.Call != nil {
						out = append(out, st.Call.Server)
					}
				}
			}
		}
		if r.file != last.file || r.template != last.template {
			for _, op := range t.proto.Ops {
				if op.pinned {
					out = append(out, op.Server)
				}
			}
		}
		if t.meta != nil || r.file != last.file || r.template != last.template || r.server != last.server {
			if s := t.serverAt(int(r.row), int(r.server)); len(out) == 0 || out[len(out)-1] != s {
				out = append(out, s)
			}
		}
		last = r
	}
	return out
}
