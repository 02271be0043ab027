package plan

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/base/shellwords"
	"mcptest/internal/base/source"
)

// SendsCredentials reports whether requests to the server have credentials: of auth:, in a
// header or in the address.
func (s *Server) SendsCredentials() bool {
	if s.Auth != nil || s.HasAuthorization() {
		return true
	}
	u, err := url.Parse(s.URL)
	return err == nil && u.User != nil
}

// HasAuthorization reports whether the headers of the server have the header Authorization.
func (s *Server) HasAuthorization() bool {
	return slices.ContainsFunc(s.Headers, func(h Header) bool { return strings.EqualFold(h.Name, "Authorization") })
}

// NeedsLogin reports whether a user must log in to the server before a run.
func (s *Server) NeedsLogin() bool {
	return s.Auth != nil && s.Auth.OAuth != nil && s.Auth.OAuth.Grant != "client_credentials" && !s.Auth.OAuth.Headless
}

// LoginCommand returns the command that logs in to the server.
func (s *Server) LoginCommand() string {
	words := []string{"mcptest", "login"}
	if s.def == nil {
		words = append(words, s.URL)
	} else {
		words = append(words, s.Name)
		if f := s.Pos.File; f != nil && f.Name != "" {
			words = append(words, "--config", filepath.ToSlash(f.Name))
		}
	}
	if s.Auth != nil && s.Auth.OAuth != nil && s.Auth.OAuth.Grant == "device_code" {
		words = append(words, "--device")
	}
	return shellwords.QuoteAllForShell(words)
}

// NeedLogin calls missing for each server that requires a login and that the
// selected cases or their fixtures use. It reports the messages that missing
// returns, except "".
func NeedLogin(p *Plan, missing func(*Server) string) source.Diagnostics {
	var diags source.Diagnostics
	seen := map[*Server]bool{}
	for _, s := range p.needs() {
		if s == nil || seen[s] || !s.NeedsLogin() {
			continue
		}
		seen[s] = true
		if msg := missing(s); msg != "" {
			diags = append(diags, source.Diagnostic{
				Pos: s.def.KeyPos("auth"), Path: source.PathKey("servers", s.Name) + ".auth",
				Msg: msg, Hint: "run: " + s.LoginCommand(), Code: "login",
			})
		}
	}
	return diags
}

// stepServers returns the servers of the fixture steps of a file.
func (f *File) stepServers() (out []*Server) {
	for _, st := range slices.Concat(f.Setup, f.SetupPerTest, f.Teardown) {
		if st.Call != nil {
			out = append(out, st.Call.Server)
		}
	}
	return out
}

// listPinnedServers returns the servers that calls of a template name.
func (t *template) listPinnedServers() (out []*Server) {
	for _, op := range t.proto.Ops {
		if op.pinned {
			out = append(out, op.Server)
		}
	}
	return out
}

// needs returns the servers that the selected cases and their files' fixtures use.
// The list may contain duplicates.
func (p *Plan) needs() []*Server {
	var out []*Server
	last := ref{file: -1}
	for _, r := range p.refs {
		f := p.Files[r.file]
		t := f.templates[r.template]
		newFile := r.file != last.file
		newTemplate := newFile || r.template != last.template
		if newFile {
			out = append(out, f.stepServers()...)
		}
		if newTemplate {
			out = append(out, t.listPinnedServers()...)
		}
		if t.meta != nil || newTemplate || r.server != last.server {
			s := t.getServer(int(r.row), int(r.server))
			if len(out) == 0 || out[len(out)-1] != s {
				out = append(out, s)
			}
		}
		last = r
	}
	return out
}
