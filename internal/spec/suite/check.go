package suite

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite/dotenv"
	"mcptest/internal/spec/suite/lint"
)

// check reports mistakes that can only be found once all files are read.
func (l *loader) check() {
	s, root := l.suite, l.docs[0].root
	servers := root.Get("servers")
	switch {
	case len(s.Servers) > 0 || s.Partial || root.Get("mcpServers") != nil:
	case servers == nil:
		d := l.dec.Errorf(root, "", `missing key "servers": a suite needs at least one server`)
		d.Code, d.Hint = "missing-key", "servers: {api: {command: [node, server.js]}}; mcptest init -- COMMAND writes a suite for a server"
	case servers.Kind == source.KindMap && len(servers.Fields) == 0:
		l.dec.Errorf(servers, "servers", "a suite needs at least one server")
	}
	declared := map[string]bool{}
	for _, sv := range s.Servers {
		name, _, variant := strings.Cut(sv.Name, "@")
		declared[name] = true
		if variant {
			l.checkVariant(sv)
		} else {
			l.checkServer(sv)
		}
	}
	for _, e := range s.Env {
		l.addCredential(e.Name, e.Value)
	}
	l.addProgramSecrets()
	if n := root.Get("default_server"); n != nil && n.Kind == source.KindString && n.Text == "" {
		l.dec.Errorf(n, "default_server", "the name is empty")
	}
	if s.DefaultServer != "" && s.Server(s.DefaultServer) == nil && !s.Partial {
		msg, hint := "no server is called %q", s.SuggestServer(s.DefaultServer)
		if strings.Contains(s.DefaultServer, "*") {
			msg, hint = "expected the name of one server, got the pattern %q", "defaultTest: {server: …} takes patterns"
		}
		l.dec.ErrorAt(s.DefaultPos, "default_server", fmt.Sprintf(msg, s.DefaultServer), hint)
	}
	if s.DefaultServer == "" && len(declared) == 1 && !strings.Contains(s.Servers[0].Name, "@") {
		s.DefaultServer = s.Servers[0].Name
	}
	if dt := s.DefaultTest; dt != nil && dt.node != nil {
		checkTags(dt.node, "defaultTest", dt.Tags, l.dec)
	}
}

func (l *loader) checkServer(sv *Server) {
	path := sv.Path()
	switch {
	case sv.Command == nil && sv.URL == "" && l.hasReported(path):
		// A misspelled key was reported; don't report the missing one too.
	case sv.Command == nil && !sv.Has("url"):
		l.dec.ErrorAt(sv.Pos, path, "needs command: (a program to start) or url: (a server to connect to)", "")
	case sv.Command == nil && sv.URL == "":
		l.dec.ErrorAt(sv.KeyPos("url"), path+".url", "the address is empty", "")
	case sv.Command != nil && sv.Has("url"):
		l.dec.ErrorAt(sv.KeyPos("url"), path, "has both command: and url:; expected exactly one",
			"command: starts a program that speaks over its standard input and output; for a program that serves HTTP keep url:, and start it in setup: [{run: […], background: true}]")
	}
	for _, e := range sv.Env.Entries {
		dotenv.CheckName(l.dec, e.Pos, source.PathKey(path+".env", e.Key), e.Key, string(e.Value))
	}
	if sv.InheritEnv != nil {
		n := sv.node.Get("inherit_env")
		for i, name := range sv.InheritEnv.Names {
			if _, ok := n.Items[i].AsText(); !ok {
				continue
			}
			dotenv.CheckName(l.dec, n.Items[i].Pos, source.PathIndex(path+".inherit_env", i), name, "")
		}
	}
	l.checkHeaders(sv, path)
	lint.Unreplaced(l.dec, sv.node, path, l.suite.VarNames)
	if name, _, variant := strings.Cut(sv.Name, "@"); !variant {
		lint.Letters(l.dec, sv.Pos, path, "the name of the server", name)
	}
	if sv.Auth != nil {
		l.checkAuth(sv, path+".auth")
	}
}

// checkVariant checks a variant like a server. Mistakes that its server has too are
// not reported again.
func (l *loader) checkVariant(sv *Server) {
	all := l.dec
	l.dec = new(source.Decoder)
	l.checkServer(sv)
	all.AddNew(l.dec.Diagnostics()...)
	l.dec = all
}

// checkHeaders resolves and checks a server's HTTP headers.
func (l *loader) checkHeaders(sv *Server, path string) {
	seen := map[string]source.Pos{}
	for i := range sv.Headers.Entries {
		e := &sv.Headers.Entries[i]
		at := source.PathKey(path+".headers", e.Key)
		name := http.CanonicalHeaderKey(e.Key)
		if old, twice := seen[name]; twice {
			l.dec.Add(source.Diagnostic{
				Pos: e.Pos, Path: at, Msg: fmt.Sprintf("the header %s is set twice: names are case-insensitive", name),
				Related: []source.Related{{Pos: old, Msg: "first given here"}},
			})
		}
		seen[name] = e.Pos
		if !IsHeaderName(e.Key) {
			l.dec.ErrorAt(e.Pos, at, fmt.Sprintf("%q is not the name of an HTTP header", e.Key), "")
		}
		l.checkHeader(e.Key, &e.Value, at)
		if why := Unsent(e.Key, e.Value.Value, false); why != "" {
			l.dec.ErrorAt(e.Pos, at, why, "")
		}
		if why := Replaced(e.Key); why != "" {
			l.dec.Add(source.Diagnostic{
				Pos: e.Pos, Path: at, Severity: source.Warning, Code: "replaced-header", Msg: why,
				Hint: "remove it; a test of http: sends any header, and protocol: chooses the version",
			})
		}
		if strings.ContainsAny(e.Value.Value, "\r\n\x00") {
			l.dec.ErrorAt(e.Value.Pos, at, "a header's value can't have line breaks", "")
		}
	}
	if pos, ok := seen["Authorization"]; ok && sv.Auth != nil {
		l.dec.ErrorAt(pos, path+".headers", "an Authorization header and auth: exclude each other", "remove one of them")
	}
}

// IsHeaderName reports whether s can be the name of an HTTP header: a token of
// RFC 9110, section 5.6.2.
func IsHeaderName(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	}) < 0
}

func (l *loader) checkHeader(key string, h *Header, path string) {
	if h.Env == "" {
		if secret.Name(key) {
			value := h.Value
			if scheme, token, ok := strings.Cut(value, " "); ok && (strings.EqualFold(scheme, "bearer") || strings.EqualFold(scheme, "basic")) {
				value = strings.TrimSpace(token)
			}
			l.addSecret(value, h.Pos, path)
		}
		return
	}
	v, ok := l.env.Get(h.Env)
	if !ok {
		l.dec.ErrorAt(h.Pos, path, "the environment variable "+h.Env+" is not set", "set it before the run, or in a file .env next to the suite")
		return
	}
	l.addSecret(v, h.Pos, path)
	h.Value = v
}

// checkAuth checks the rules of each way to authenticate and records the secrets.
func (l *loader) checkAuth(sv *Server, path string) {
	a := sv.Auth
	switch {
	case a.BearerTokenEnv != "" && a.OAuth != nil:
		l.dec.ErrorAt(a.Pos, path, "has both bearer_token_env: and oauth:; expected exactly one", "")
	case a.BearerTokenEnv == "" && a.OAuth == nil && !l.hasReported(path):
		l.dec.ErrorAt(a.Pos, path, "needs bearer_token_env: or oauth:", "")
	}
	l.addSecretFromEnv(a.BearerTokenEnv, a.Pos, path+".bearer_token_env")
	if a.OAuth != nil {
		l.checkOAuth(a.OAuth, sv.node.Get("auth").Get("oauth"), path+".oauth")
	}
}

func (l *loader) addSecretFromEnv(name string, pos source.Pos, path string) {
	if name == "" {
		return
	}
	v, ok := l.env.Get(name)
	switch {
	case !ok:
		l.dec.ErrorAt(pos, path, "the environment variable "+name+" is not set", "set it before the run, or in a file .env next to the suite")
	case v == "":
		l.dec.ErrorAt(pos, path, "the environment variable "+name+" is empty", "")
	}
	l.addSecret(v, pos, path)
}

// hasReported reports whether a mistake was found at or below a path.
func (l *loader) hasReported(path string) bool {
	return slices.ContainsFunc(l.dec.Diagnostics(), func(d source.Diagnostic) bool {
		rest, below := strings.CutPrefix(d.Path, path)
		isAt := below && (rest == "" || rest[0] == '.' || rest[0] == '[')
		return d.Severity == source.Error && isAt
	})
}
