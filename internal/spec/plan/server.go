package plan

import (
	"cmp"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"

	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
	"mcptest/internal/client/protocol"
	"mcptest/internal/process/bundle"
	"mcptest/internal/process/probe"
	"mcptest/internal/spec/plan/rows"
	"mcptest/internal/spec/plan/traffic"
	"mcptest/internal/spec/suite"
	"mcptest/internal/spec/suite/interpolate"
)

// serverCompiler resolves one server entry.
type serverCompiler struct {
	c    *compiler
	sv   *suite.Server
	path string
	out  *Server
}

// report reports a mistake at a key of the server.
func (s *serverCompiler) report(key, msg, hint string) {
	s.c.dec.ErrorAt(s.sv.KeyPos(key), s.path+"."+key, msg, hint)
}

// compileServer resolves one server entry. The compiler has no diagnostics yet: see apart.
func (c *compiler) compileServer(sv *suite.Server) (*Server, source.Diagnostics) {
	s := &serverCompiler{c: c, sv: sv, path: sv.Path()}
	out := &Server{
		Name: sv.Name, Pos: sv.Pos, URL: sv.URL, Auth: sv.Auth, TLS: sv.TLS,
		Transport: cmp.Or(sv.Transport, "auto"), Protocol: cmp.Or(sv.Protocol, "auto"),
		ConnectTimeout: defaultDuration(sv.ConnectTimeout, DefaultConnectTimeout), Timeout: defaultDuration(sv.Timeout, 0), IdleTimeout: defaultDuration(sv.IdleTimeout, 0),
		WaitForReady: sv.WaitForReady, Sessions: 1, ValidateOutput: true, Respond: sv.Respond,
		Tolerate: map[string]bool{}, ServerKeys: sv.ServerKeys, def: sv,
	}
	s.out = out
	if sv.Command != nil {
		s.compileProgram()
		if sv.URL == "" {
			s.refuse("url")
		}
	}
	if sv.URL != "" {
		s.compileAddress()
	}
	for _, h := range sv.Headers.Entries {
		out.Headers = append(out.Headers, Header{Name: h.Key, Value: h.Value.Value})
	}
	if sv.Sessions != nil {
		out.Sessions = *sv.Sessions
	}
	s.waitForReady()
	if wait := c.set.WaitForReady; wait > 0 {
		if strings.Contains(sv.WaitForReady, "://") {
			out.ProbeTime = wait
		} else {
			out.WaitForReady = wait.String()
		}
	}
	s.compileBearer()
	if sv.Auth != nil && sv.Auth.OAuth != nil {
		out.ClientSecret, _ = s.findEnvValue(sv.Auth.OAuth.ClientSecretEnv)
	}
	s.compileCAFile()
	out.Describe = traffic.CompileDescriptions(sv, c.suite, s.path+".describe", rows.Options{
		Dec:          c.dec,
		Dir:          c.suite.Dir,
		AllowOutside: c.set.AllowOutside,
		Opened:       c.file.inputs.add,
	})
	if sv.ValidateOutput != nil {
		out.ValidateOutput = *sv.ValidateOutput
	}
	s.tolerate()
	s.compileClient()
	out.Key = makeServerKey(out)
	return out, c.dec.Diagnostics()
}

// tolerate sets the kinds of violations that are no failures.
func (s *serverCompiler) tolerate() {
	kinds := s.c.set.ViolationKinds
	for i, t := range s.sv.Tolerate {
		if !slices.Contains(kinds, t.Text) && !t.Bad && !t.Pos.IsZero() {
			what := fmt.Sprintf("%q is not a kind of protocol violation", t.Text)
			s.c.dec.ErrorAt(t.Pos, source.PathIndex(s.path+".tolerate", i), what, source.Known(t.Text, kinds))
		}
		s.out.Tolerate[t.Text] = true
	}
}

// compileClient sets what mcptest claims to be: --client wins over client: of the server.
func (s *serverCompiler) compileClient() {
	s.out.Client = newClient(s.sv.Client)
	if s.c.set.Client != nil {
		s.out.Client = *s.c.set.Client
	}
	s.c.warnUnasked(s.out, s.sv.Respond, s.path+".respond")
}

// compileAddress checks the address of a server, and that no other key excludes it.
func (s *serverCompiler) compileAddress() {
	u, err := url.Parse(s.sv.URL)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "":
		s.report("url", fmt.Sprintf("%q is not an http or https address", s.sv.URL), addScheme(s.sv.URL))
	case u.Fragment != "":
		s.report("url", "the address of a server must not have a fragment", "remove #"+u.Fragment)
	}
	s.refuse("command")
	s.compileTransport()
}

// compileProgram resolves the command: a program with its arguments, or a bundle.
func (s *serverCompiler) compileProgram() {
	c, sv, out := s.c, s.sv, s.out
	var preset []string
	if sv.Command.Kind == source.KindMap {
		preset = s.compileBundle()
	} else {
		out.Argv = c.replaceSelf(s.compileArgv())
	}
	out.Dir = c.resolvePath(sv.Cwd, sv.File)
	if out.Bundle != nil && sv.Cwd == "" {
		out.Dir = out.Bundle.Dir
	}
	out.Env, out.Withheld = makeServerEnv(c.set.Env, preset, c.suite, sv)
}

// compileBundle resolves a command that is a bundle: what it starts, in place of a list of words. It
// returns the environment that the manifest sets.
func (s *serverCompiler) compileBundle() (env []string) {
	c, n, path := s.c, s.sv.Command, s.path+".command"
	var written suite.BundleCommand
	c.dec.Decode(n, path, &written)
	file := n.Get("bundle")
	if file == nil || written.Bundle == "" {
		if file != nil && file.Text == "" {
			c.dec.Errorf(file, path+".bundle", "the path is empty")
		}
		return nil
	}
	at := c.resolvePath(written.Bundle, s.sv.File)
	c.file.inputs.add(at)
	b, ds := bundle.Open(at, written.Bundle)
	if b != nil && !ds.HasErrors() {
		var more source.Diagnostics
		s.out.Bundle, more = b.Program(s.makeConfig(written), s.makeSystem(), c.set.Bundles)
		ds = append(ds, more...)
	}
	for _, d := range ds {
		if d.Pos.Line == 0 { // the archive as a whole
			d.Pos, d.Path = file.Pos, path+".bundle"
		}
		c.dec.AddNew(d)
	}
	if s.out.Bundle == nil {
		return nil
	}
	s.out.Argv = append(slices.Clone(s.out.Bundle.Argv), s.sv.Args...)
	return s.out.Bundle.Env
}

// makeConfig returns the values of the bundle's options.
func (s *serverCompiler) makeConfig(written suite.BundleCommand) bundle.Config {
	n := s.sv.Command
	pos := n.Get("bundle").Pos
	if values := n.Get("config"); values != nil {
		pos = values.Pos
	}
	return bundle.Config{
		Values: written.Config,
		Path:   s.path + ".command.config",
		Pos:    pos,
		Dir:    s.c.resolvePath("", s.sv.File),
	}
}

// makeSystem returns where the bundle is started: with the home folder that the server gets.
func (s *serverCompiler) makeSystem() bundle.System {
	sys := s.c.set.System
	for _, v := range s.c.suite.Env {
		if v.Name == "HOME" {
			sys.Home = v.Value
		}
	}
	if home, ok := s.sv.Env.Get("HOME"); ok {
		sys.Home = string(home)
	}
	return sys
}

// compileArgv returns the command with its arguments.
func (s *serverCompiler) compileArgv() []string {
	n, path := s.sv.Command, s.path+".command"
	if !s.sv.Whole || n.Kind != source.KindString {
		return append(s.c.compileArgv(n, s.sv.Scope, path), s.sv.Args...)
	}
	n = s.sv.Scope.Expand(n, path, interpolate.Bindings{}, s.c.dec)
	if strings.TrimSpace(n.Text) == "" {
		s.c.dec.Errorf(n, path, "the command is empty")
	}
	return append([]string{n.Text}, s.sv.Args...)
}

// addScheme returns a hint for an address without its beginning, or "".
func addScheme(address string) string {
	if strings.Contains(address, "://") || !strings.ContainsAny(address, ":./") {
		return ""
	}
	return "write http://" + address
}

// compileBearer converts auth.bearer_token_env to a header. An unset variable was reported
// when the suite was loaded.
func (s *serverCompiler) compileBearer() {
	if s.sv.Auth == nil || s.sv.Auth.BearerTokenEnv == "" {
		return
	}
	if v, ok := s.findEnvValue(s.sv.Auth.BearerTokenEnv); ok {
		s.out.Headers = append(s.out.Headers, Header{Name: "Authorization", Value: "Bearer " + v})
	}
}

// findEnvValue looks up a variable like interpolation does: first in the environment,
// then in .env.
func (s *serverCompiler) findEnvValue(name string) (string, bool) {
	for _, kv := range slices.Backward(s.c.set.Env) {
		if n, v, _ := strings.Cut(kv, "="); n == name {
			return v, true
		}
	}
	for _, v := range s.c.suite.DotEnv {
		if v.Name == name {
			return v.Value, true
		}
	}
	return "", false
}

// compileCAFile resolves tls.ca_file relative to the file it is written in.
func (s *serverCompiler) compileCAFile() {
	c, sv := s.c, s.sv
	if sv.TLS == nil || sv.TLS.CAFile == "" {
		return
	}
	t := *sv.TLS
	t.CAFile = c.resolvePath(t.CAFile, sv.File)
	c.file.inputs.add(t.CAFile)
	if !c.set.AllowOutside && !suite.IsInside(c.suite.Dir, t.CAFile) {
		c.dec.ErrorAt(t.Pos, s.path+".tls.ca_file", sv.TLS.CAFile+" is outside the suite's directory", "move it below the suite, or run with --allow-outside")
	} else if pem, err := os.ReadFile(t.CAFile); err != nil {
		c.dec.ErrorAt(t.Pos, s.path+".tls.ca_file", "can't read "+sv.TLS.CAFile, "looked for "+t.CAFile)
	} else if !x509.NewCertPool().AppendCertsFromPEM(pem) {
		c.dec.ErrorAt(t.Pos, s.path+".tls.ca_file", sv.TLS.CAFile+" contains no certificate", "expected PEM text, which begins with -----BEGIN CERTIFICATE-----")
	}
	s.out.TLS = &t
}

// compileTransport reports a transport that does not support the pinned version: HTTP+SSE
// requires a session.
func (s *serverCompiler) compileTransport() {
	if s.sv.Transport == "sse" && protocol.VersionOf(s.sv.Protocol).Stateless {
		s.report("transport", "protocol "+s.sv.Protocol+" is not supported over HTTP+SSE",
			"write transport: streamable-http, or leave out protocol: or transport:")
	}
}

// refuse reports keys that only the other kind of server can have.
func (s *serverCompiler) refuse(other string) {
	for _, f := range source.Fields(reflect.TypeFor[suite.Server]()) {
		if f.Tag.Get("for") == other && s.sv.Has(f.Name) {
			s.report(f.Name, fmt.Sprintf("%s: requires a server with %s:", f.Name, other), explainInstead(f.Name))
		}
	}
}

// explainInstead says how the other kind of server gets what a key is written for.
func explainInstead(key string) string {
	const started = "the server at a URL was started elsewhere: "
	const program = "a program is started and gets no HTTP requests: "
	switch key {
	case "headers":
		return program + "it takes its settings from env: {NAME: value} or from its arguments"
	case "auth":
		return program + "it takes a token from its environment: env: {API_TOKEN: \"${API_TOKEN}\"}"
	case "tls", "transport", "retry_http":
		return program + "leave " + key + ": out"
	case "env", "inherit_env":
		return started + "set its environment there, or send a value with each request: headers: {NAME: value}"
	case "args":
		return started + "add its arguments there; parameters of the address belong into url: or query:"
	case "cwd", "strict_exit":
		return started + "leave " + key + ": out, or start it here with command:"
	}
	return ""
}

// waitForReady checks the syntax of wait_for_ready: a duration or an address to
// probe.
func (s *serverCompiler) waitForReady() {
	w := s.sv.WaitForReady
	if w == "" {
		return
	}
	if d, err := source.ParseDuration(w); err == nil && d > 0 {
		return
	}
	if strings.Contains(w, "://") {
		if p, err := probe.Parse(w); err == nil {
			s.out.ReadyAtServer = p.AtServers(lists.Map(s.c.suite.Servers, func(sv *suite.Server) string {
				return sv.URL
			})...).OfServer()
			return
		}
	}
	s.report("wait_for_ready",
		fmt.Sprintf("expected a duration or an address to probe, got %q", w), "such as 10s, http://127.0.0.1:8080/healthz or tcp://127.0.0.1:8080")
}

// makeServerKey returns the resolved definition as text, without source positions.
func makeServerKey(s *Server) string {
	b, err := json.Marshal(s)
	if err != nil {
		return s.Name
	}
	return string(b)
}

// minimalNames are inherited by every server. Programs need them to run, and they
// do not usually contain secrets.
var minimalNames = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP", "TERM",
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
	"PROGRAMFILES", "PROGRAMDATA", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
}

// isAlwaysInherited reports whether every server inherits a variable.
func isAlwaysInherited(name string) bool {
	upper := strings.ToUpper(name)
	return slices.Contains(minimalNames, upper) || strings.HasPrefix(upper, "LC_")
}

// SplitServerEnv returns the environment of a server that no suite declares. names
// corresponds to inherit_env.
func SplitServerEnv(env, names []string) (passed, withheld []string) {
	return makeServerEnv(env, nil, &suite.Suite{}, &suite.Server{InheritEnv: &suite.InheritEnv{Names: names}})
}

// SplitBundleEnv returns the environment of a bundle that no suite declares.
func SplitBundleEnv(env, names []string, p *bundle.Program) (passed, withheld []string) {
	return makeServerEnv(env, p.Env, &suite.Suite{}, &suite.Server{InheritEnv: &suite.InheritEnv{Names: names}})
}

// makeServerEnv builds a server's environment: inherited names, .env for the names it
// lists, what a bundle sets, the suite's env, then its own env. withheld are the names that
// are set in env and not passed on.
func makeServerEnv(env, preset []string, s *suite.Suite, sv *suite.Server) (passed, withheld []string) {
	b := envBuilder{values: map[string]string{}}
	inherit := sv.InheritEnv
	listed := map[string]bool{}
	if inherit != nil {
		for _, n := range inherit.Names {
			listed[n] = true
		}
	}
	for _, v := range s.DotEnv {
		if listed[v.Name] {
			b.set(v.Name, v.Value)
		}
	}
	for _, kv := range env {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			continue
		}
		inheritsAll := inherit != nil && inherit.All
		if inheritsAll || listed[name] || isAlwaysInherited(name) {
			b.set(name, value)
		}
	}
	for _, kv := range preset {
		name, value, _ := strings.Cut(kv, "=")
		b.set(name, value)
	}
	for _, v := range s.Env {
		b.set(v.Name, v.Value)
	}
	for _, e := range sv.Env.Entries {
		b.set(e.Key, string(e.Value))
	}
	for _, kv := range makeHookEnv(env, s) {
		name, _, _ := strings.Cut(kv, "=")
		if _, ok := b.values[name]; !ok {
			withheld = append(withheld, name)
		}
	}
	return b.list(), withheld
}

// makeHookEnv returns the environment of hooks and steps.
func makeHookEnv(env []string, s *suite.Suite) []string {
	b := envBuilder{values: map[string]string{}}
	for _, v := range s.DotEnv {
		b.set(v.Name, v.Value)
	}
	for _, kv := range env {
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" {
			b.set(name, value)
		}
	}
	for _, v := range s.Env {
		b.set(v.Name, v.Value)
	}
	return b.list()
}

// envBuilder keeps the last value of each name, in the order in which names first
// occur.
type envBuilder struct {
	names  []string
	values map[string]string
}

func (b *envBuilder) set(name, value string) {
	if _, ok := b.values[name]; !ok {
		b.names = append(b.names, name)
	}
	b.values[name] = value
}

func (b *envBuilder) list() []string {
	return lists.Map(b.names, func(n string) string { return n + "=" + b.values[n] })
}
