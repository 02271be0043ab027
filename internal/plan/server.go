package plan

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/expect"
	"mcptest/internal/proc"
	"mcptest/internal/source"
	"mcptest/internal/suite"
)

// server resolves one server entry.
func (c *compiler) server(sv *suite.Server) *Server {
	path := source.PathKey("servers", sv.Name)
	out := &Server{
		Name: sv.Name, Pos: sv.Pos, URL: sv.URL, Auth: sv.Auth, TLS: sv.TLS,
		Transport: orString(sv.Transport, "auto"), Protocol: orString(sv.Protocol, "auto"),
		ConnectTimeout: orDuration(sv.ConnectTimeout, DefaultConnectTimeout),
		Timeout:        orDuration(sv.Timeout, 0),
		WaitForReady:   sv.WaitForReady, Sessions: 1, ValidateOutput: true, Respond: sv.Respond,
		Tolerate: map[string]bool{}, def: sv,
	}
	if sv.Command != nil {
		out.Argv = c.self(c.argv(sv.Command, sv.Scope, path+".command"))
		out.Dir = c.path(sv.Cwd, sv.File)
		out.Env, out.Withheld = serverEnv(c.set.Env, c.suite, sv)
		if sv.URL == "" {
			c.refuse(sv, path, "url", "headers", "auth", "tls", "transport", "retry_http")
		}
	}
	if sv.URL != "" {
		if u, err := url.Parse(sv.URL); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
			report(c.dec, sv.KeyPos("url"), path+".url", fmt.Sprintf("%q is not an http or https address", sv.URL), "")
		} else if u.Fragment != "" {
			report(c.dec, sv.KeyPos("url"), path+".url", "an address of a server has no fragment", "remove #"+u.Fragment)
		}
		c.refuse(sv, path, "command", "cwd", "env", "inherit_env")
		c.transport(sv, path)
	}
	for _, h := range sv.Headers.Entries {
		out.Headers = append(out.Headers, Header{Name: h.Key, Value: h.Value.Value})
	}
	if sv.Sessions != nil {
		out.Sessions = *sv.Sessions
	}
	out.RetryHTTP = sv.RetryHTTP
	c.waitForReady(sv, path)
	if wait := c.set.WaitForReady; wait > 0 {
		if strings.Contains(sv.WaitForReady, "://") {
			out.ProbeTime = wait
		} else {
			out.WaitForReady = wait.String()
		}
	}
	c.bearer(sv, out)
	if sv.Auth != nil && sv.Auth.OAuth != nil {
		out.ClientSecret, _ = c.envValue(sv.Auth.OAuth.ClientSecretEnv)
	}
	c.caFile(sv, out, path)
	if sv.ValidateOutput != nil {
		out.ValidateOutput = *sv.ValidateOutput
	}
	for i, t := range sv.Tolerate {
		if !slices.Contains(c.set.ViolationKinds, t.Text) && !t.Bad && !t.Pos.IsZero() {
			report(c.dec, t.Pos, source.PathIndex(path+".tolerate", i), fmt.Sprintf("%q is no kind of protocol violation", t.Text),
				nearOr(t.Text, c.set.ViolationKinds))
		}
		out.Tolerate[t.Text] = true
	}
	out.Key = serverKey(out)
	return out
}

// bearer turns auth.bearer_token_env into a header. A variable that is not set
// was reported when the suite was loaded.
func (c *compiler) bearer(sv *suite.Server, out *Server) {
	if sv.Auth == nil || sv.Auth.BearerTokenEnv == "" {
		return
	}
	if v, ok := c.envValue(sv.Auth.BearerTokenEnv); ok {
		out.Headers = append(out.Headers, Header{Name: "Authorization", Value: "Bearer " + v})
	}
}

// envValue looks a variable up where interpolation does: the environment wins
// over .env.
func (c *compiler) envValue(name string) (string, bool) {
	for _, kv := range slices.Backward(c.set.Env) {
		if n, v, _ := strings.Cut(kv, "="); n == name {
			return v, true
		}
	}
	for _, v := range c.suite.DotEnv {
		if v.Name == name {
			return v.Value, true
		}
	}
	return "", false
}

// caFile resolves tls.ca_file against the file it is written in.
func (c *compiler) caFile(sv *suite.Server, out *Server, path string) {
	if sv.TLS == nil || sv.TLS.CAFile == "" {
		return
	}
	t := *sv.TLS
	t.CAFile = c.path(t.CAFile, sv.File)
	if !c.set.AllowOutside && !suite.Inside(c.suite.Dir, t.CAFile) {
		report(c.dec, t.Pos, path+".tls.ca_file", sv.TLS.CAFile+" is outside the suite's directory", "move it below the suite, or run with --allow-outside")
	} else if pem, err := os.ReadFile(t.CAFile); err != nil {
		report(c.dec, t.Pos, path+".tls.ca_file", "can't read "+sv.TLS.CAFile, "looked for "+t.CAFile)
	} else if !x509.NewCertPool().AppendCertsFromPEM(pem) {
		report(c.dec, t.Pos, path+".tls.ca_file", sv.TLS.CAFile+" holds no certificate", "it wants PEM text: -----BEGIN CERTIFICATE-----")
	}
	out.TLS = &t
}

// firstWithoutSessions is the first revision that HTTP+SSE can't carry: that
// transport is a session.
const firstWithoutSessions = "2026-07-28"

// transport reports a transport that does not go with the pinned revision.
func (c *compiler) transport(sv *suite.Server, path string) {
	if sv.Transport == "sse" && sv.Protocol != "auto" && sv.Protocol >= firstWithoutSessions {
		report(c.dec, sv.KeyPos("transport"), path+".transport", "protocol "+sv.Protocol+" is not spoken over HTTP+SSE",
			"write transport: streamable-http, or leave out protocol: or transport:")
	}
}

// refuse reports keys that a server of the other kind has.
func (c *compiler) refuse(sv *suite.Server, path, other string, keys ...string) {
	for _, key := range keys {
		if sv.Has(key) {
			report(c.dec, sv.KeyPos(key), path+"."+key, fmt.Sprintf("%s: is for a server with %s:", key, other), "")
		}
	}
}

// waitForReady checks the form of wait_for_ready: how long to wait, or what to
// ask.
func (c *compiler) waitForReady(sv *suite.Server, path string) {
	w := sv.WaitForReady
	if w == "" {
		return
	}
	if d, err := source.ParseDuration(w); err == nil && d > 0 {
		return
	}
	if strings.Contains(w, "://") {
		if _, err := proc.ParseProbe(w); err == nil {
			return
		}
	}
	report(c.dec, sv.KeyPos("wait_for_ready"), path+".wait_for_ready",
		fmt.Sprintf("expected a duration or an address to ask, got %q", w), "such as 10s, http://127.0.0.1:8080/healthz or tcp://127.0.0.1:8080")
}

// serverKey is the resolved definition as text, without the places where it is
// written.
func serverKey(s *Server) string {
	var auth suite.Auth
	var oauth suite.OAuth
	var tls suite.TLS
	if s.Auth != nil {
		if auth = *s.Auth; auth.OAuth != nil {
			oauth = *auth.OAuth
		}
	}
	if s.TLS != nil {
		tls = *s.TLS
	}
	auth.Pos, auth.OAuth, oauth.Pos, tls.Pos = source.Pos{}, nil, source.Pos{}, source.Pos{}
	b, err := json.Marshal([]any{
		s.Name, s.Argv, s.Dir, s.Env, s.URL, s.Headers, auth, oauth, tls, s.Transport,
		s.Protocol, s.ConnectTimeout, s.Sessions, s.RetryHTTP, s.Tolerate, s.ValidateOutput, s.WaitForReady,
	})
	if err != nil {
		return s.Name
	}
	return string(b)
}

// argv reads a command: a list of text, or one string split by POSIX rules
// before anything is substituted.
func (c *compiler) argv(n *source.Node, scope *suite.Scope, path string) []string {
	switch n.Kind {
	case source.KindList:
		var out []string
		for i, item := range n.Items {
			text, ok := item.AsText()
			if !ok {
				diag := c.dec.WrongType(item, source.PathIndex(path, i), "text")
				if item.IsScalar() && item.Kind != source.KindNull {
					diag.Hint = fmt.Sprintf("put it in quotes: %q", item.Text)
				}
			}
			out = append(out, text)
		}
		if len(n.Items) == 0 || n.Items[0].Kind == source.KindString && out[0] == "" {
			c.dec.Errorf(n, path, "the command is empty")
		}
		return out
	case source.KindString:
		return c.words(n, scope, path, "a server's command is one program, not a shell line: put it in a script, or write bash -c '…'")
	}
	c.dec.WrongType(n, path, "a list of text, or text")
	return nil
}

// shellScript is the place of a shell's script among the words of a command, -1
// where there is none.
func shellScript(words []proc.Word) int {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.Text
	}
	switch filepath.Base(texts[0]) {
	case "sh", "ash", "bash", "dash", "ksh", "zsh":
		return expect.ScriptAt(texts)
	}
	return -1
}

// words splits a command string and then fills in its placeholders, so that a
// value never changes the number of words.
func (c *compiler) words(n *source.Node, scope *suite.Scope, path, hint string) []string {
	words, err := proc.Split(n.Text)
	if err != nil {
		var se *proc.SplitError
		if asSplit(err, &se) {
			if strings.HasPrefix(se.Hint, "hooks run") {
				se.Hint = hint
			}
			report(c.dec, n.In(se.Offset), path, se.Msg, orString(se.Hint, hint))
		} else {
			c.dec.Errorf(n, path, "%v", err)
		}
		return nil
	}
	if len(words) == 0 {
		c.dec.Errorf(n, path, "the command is empty")
		return nil
	}
	out := make([]string, len(words))
	script := shellScript(words)
	for i, w := range words {
		word := n.WithText(w.Text)
		if v := scope.Expand(word, path, suite.Bindings{}, c.dec); v.IsScalar() {
			out[i] = v.Text
		}
		for _, e := range w.Expands {
			if i == script {
				continue // the shell expands it
			}
			c.dec.Add(source.Diagnostic{
				Pos: n.In(e.Offset), Path: path, Severity: source.Warning, Code: "not-expanded",
				Msg:  fmt.Sprintf("%s is passed on unchanged: no shell expands it", e.Text),
				Hint: "use ${name} for a variable, or bash -c '…' for a shell",
			})
		}
	}
	if i := expect.ScriptAt(out); i > 0 && i < len(words) && strings.Contains(words[i].Text, "${") {
		c.dec.Add(source.Diagnostic{
			Pos: n.Pos, Path: path, Severity: source.Warning, Code: "script-value",
			Msg: "a value is put into a shell script as text", Hint: "pass it by env: and write \"$NAME\" in the script",
		})
	}
	return out
}

// path is a path as written in a file, whose folder it is relative to; "" is
// that folder.
func (c *compiler) path(written string, in *source.File) string {
	if filepath.IsAbs(written) {
		return written
	}
	dir := c.suite.Dir
	if in != nil {
		dir = filepath.Dir(in.Path)
	}
	return filepath.Join(dir, filepath.FromSlash(written))
}

// minimalNames are inherited by every server: what programs need to run at
// all, and nothing that tends to hold secrets.
var minimalNames = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP", "TERM",
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
	"PROGRAMFILES", "PROGRAMDATA", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
}

// ServerEnv is the environment of a server that no suite declares: what one
// with these names under inherit_env gets.
func ServerEnv(env, names []string) (passed, withheld []string) {
	return serverEnv(env, &suite.Suite{}, &suite.Server{InheritEnv: &suite.InheritEnv{Names: names}})
}

// serverEnv puts a server's environment together: inherited names, .env for
// the names it lists, the suite's env, its own env. withheld are the names that
// are set here and not passed on.
func serverEnv(env []string, s *suite.Suite, sv *suite.Server) (passed, withheld []string) {
	var b envBuilder
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
		upper := strings.ToUpper(name)
		if inherit != nil && inherit.All || listed[name] || slices.Contains(minimalNames, upper) || strings.HasPrefix(upper, "LC_") {
			b.set(name, value)
		}
	}
	for _, v := range s.Env {
		b.set(v.Name, v.Value)
	}
	for _, e := range sv.Env.Entries {
		b.set(e.Key, string(e.Value))
	}
	for _, kv := range hookEnv(env, s) {
		name, _, _ := strings.Cut(kv, "=")
		if _, ok := b.values[name]; !ok {
			withheld = append(withheld, name)
		}
	}
	return b.list(), withheld
}

// hookEnv is the environment of hooks and steps.
func hookEnv(env []string, s *suite.Suite) []string {
	var b envBuilder
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

// envBuilder keeps the last value of each name, in order of first mention.
type envBuilder struct {
	names  []string
	values map[string]string
}

func (b *envBuilder) set(name, value string) {
	if b.values == nil {
		b.values = map[string]string{}
	}
	if _, ok := b.values[name]; !ok {
		b.names = append(b.names, name)
	}
	b.values[name] = value
}

func (b *envBuilder) list() []string {
	out := make([]string, len(b.names))
	for i, n := range b.names {
		out[i] = n + "=" + b.values[n]
	}
	return out
}
