package connect

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"mcptest/internal/base/lazy"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/base/syserr"
	"mcptest/internal/client/auth"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
	"mcptest/internal/spec/plan"
)

// explained is an error with a hint in its message.
type explained struct {
	msg string
	err error
}

func (e *explained) Error() string { return e.msg }
func (e *explained) Unwrap() error { return e.err }

// Explain adds a hint to an error of [Opener.Open].
func Explain(sv *plan.Server, tokens string, err error) error {
	if refused := explainUnauthorized(sv, tokens, err); refused != nil {
		return refused
	}
	if errors.As(err, new(*proc.StartError)) || errors.Is(err, context.Canceled) {
		return err
	}
	msg, hint := Diagnose(sv, err)
	if errors.As(err, new(*NotReadyError)) {
		msg = err.Error()
	}
	oe, ok := errors.AsType[*wire.OpenError](err)
	if ok && len(oe.Violations) > 0 && oe.Violations[0].Excerpt != "" {
		msg += "; before that it wrote " + oe.Violations[0].Excerpt
	}
	if hint != "" {
		msg += "; " + hint
	}
	if !strings.HasSuffix(msg, "?") {
		msg += ";"
	}
	msg += " try: mcptest doctor --server " + shellwords.QuoteForShell(sv.Name) + " --config " + shellwords.QuotePathForShell(sv.Pos.File.Name)
	return &explained{msg, err}
}

// RefusedAnonymous reports whether a server refused a request without credentials, with
// HTTP 401. What to do about it depends on the command.
func RefusedAnonymous(sv *plan.Server, err error) bool {
	he, ok := errors.AsType[*wire.HTTPError](err)
	return ok && he.Info.Status == http.StatusUnauthorized && !sv.SendsCredentials()
}

// explainUnauthorized adds a hint on how to configure credentials to the error of a
// server that rejected a request without any (HTTP 401); it returns nil for any other
// error. A stored login is never used implicitly: the result of a suite would depend
// on who runs it, and the suite would act as that user.
func explainUnauthorized(sv *plan.Server, tokens string, err error) error {
	if !RefusedAnonymous(sv, err) {
		return nil
	}
	const block = "auth: {oauth: {grant: authorization_code}}"
	if tokens != "" {
		if l, _ := auth.OpenStore(tokens).Find(auth.Query{Server: sv.URL}); l != nil {
			return fmt.Errorf("%w; a login for this address is stored: add %s to use it", err, block)
		}
	}
	return fmt.Errorf("%w; no credentials were sent: add auth: {bearer_token_env: NAME}, or %s with mcptest login", err, block)
}

// Diagnose explains why a server cannot be reached or initialized. The message is
// that of the error if there is no better one; the hint may be empty.
func Diagnose(sv *plan.Server, err error) (message, hint string) {
	if second, ok := errors.AsType[*SecondError](err); ok {
		return second.Error(), "if it can have one client only, use one entry of servers for it, sessions: 1, no test with respond, and no restart_policy per_test; better, " + OwnTransport
	}
	message, hint = diagnose(sv, err)
	flags := sv.Pos.File == nil || sv.Pos.File.Name == "" // a server of the command line
	if flags {
		hint = strings.ReplaceAll(hint, "connect_timeout", "--connect-timeout")
	}
	names := listMissingEnv(sv, err)
	switch {
	case len(names) > 0:
		hint = hintAtMissingEnv(names, flags)
	case hint == "":
		hint = describeSettings(sv, err, flags)
	}
	return message, hint
}

// hintAtMissingEnv says how to pass on variables, in a suite or with flags.
func hintAtMissingEnv(names []string, flags bool) string {
	verb, remedy := " is", "inherit_env: ["+strings.Join(names, ", ")+"]"
	if len(names) > 1 {
		verb = " are"
	}
	if flags {
		remedy = "--env " + strings.Join(names, " --env ")
	}
	return strings.Join(names, ", ") + verb + " set here but not passed to the server; add " + remedy
}

// maxMissing limits the variables that a hint names.
const maxMissing = 5

// listMissingEnv returns the environment variables that a server which failed to start
// mentions in its output, and that it does not inherit.
func listMissingEnv(sv *plan.Server, err error) []string {
	var oe *wire.OpenError
	if !errors.As(err, &oe) {
		return nil
	}
	var names []string
	for _, line := range oe.StderrTail {
		isSeparator := func(r rune) bool {
			return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}
		for word := range strings.FieldsFuncSeq(line, isSeparator) {
			if len(names) == maxMissing {
				return names
			}
			isWithheld := len(word) > 3 && slices.Contains(sv.Withheld, word)
			if isWithheld && !slices.Contains(names, word) {
				names = append(names, word)
			}
		}
	}
	return names
}

// required matches the name of a variable that a program says it needs.
var required = lazy.Regexp(`(?i)\b(?-i:([A-Z][A-Z0-9]*_[A-Z0-9_]+))\b.*\b(?:required|missing|not set|unset|must be|not defined|undefined)\b|\b(?:missing|requires?|set|provide)\b.*\b(?-i:([A-Z][A-Z0-9]*_[A-Z0-9_]+))\b`)

// describeSettings returns the hint for a program that ended because its command or its
// environment lacks something.
func describeSettings(sv *plan.Server, err error, flags bool) string {
	var oe *wire.OpenError
	if !errors.As(err, &oe) || len(sv.Argv) == 0 {
		return ""
	}
	if isContainerWithoutInput(sv.Argv) {
		return sv.Argv[0] + " run needs -i: without it the server has no standard input"
	}
	said := strings.Join(oe.StderrTail, "\n")
	if m := unpacked().FindStringSubmatch(said); m != nil && sv.Bundle != nil {
		return "the bundle does not contain " + m[1] + m[2] + ": pack what the server imports"
	}
	if noFile().MatchString(said) {
		return "there is no such file: correct its path, or if it is built, build it first (such as npm run build)"
	}
	if m := absent().FindStringSubmatch(said); m != nil && strings.HasPrefix(filepath.Base(sv.Argv[0]), "python") {
		return sv.Argv[0] + " has no module " + m[1] + ": install it (" + sv.Argv[0] + " -m pip install …), or name the Python of your virtual environment: command: [" +
			strings.Join(append([]string{".venv/bin/python"}, sv.Argv[1:]...), ", ") + "]"
	}
	if m := required().FindStringSubmatch(said); m != nil && !flags && !strings.HasPrefix(m[1]+m[2], "ERR_") {
		return "give the server the variable: env: {" + m[1] + m[2] + ": …}"
	}
	return ""
}

// isContainerWithoutInput reports whether a command runs a container without its standard input.
func isContainerWithoutInput(argv []string) bool {
	isRun := len(argv) > 1 && argv[1] == "run" && (argv[0] == "docker" || argv[0] == "podman")
	return isRun && !slices.ContainsFunc(argv, keepsInput)
}

// keepsInput reports whether an argument keeps the standard input of a container open.
func keepsInput(arg string) bool {
	return arg == "-i" || arg == "-it" || arg == "-ti" || strings.HasPrefix(arg, "--interactive")
}

// unpacked matches what Node.js or Python does not find of the packages of a bundle.
var unpacked = lazy.Regexp(`(?m)Cannot find (?:module|package) '([^'/][^']*)'|^ModuleNotFoundError: No module named '([\w.]+)'`)

// noFile matches a program that Node.js does not find: the path of a module is not absolute.
var noFile = lazy.Regexp(`(?m)^Error: Cannot find module '(?:/|[A-Z]:)`)

// absent matches the name of a package that Python does not find.
var absent = lazy.Regexp(`(?m)^ModuleNotFoundError: No module named '(\w+)'`)

func diagnose(sv *plan.Server, err error) (message, hint string) {
	for _, explain := range []func(*plan.Server, error) (string, string){explainTLS, explainNetwork, explainHTTP, explainSilence} {
		if message, hint = explain(sv, err); message != "" {
			return message, hint
		}
	}
	return err.Error(), ""
}

func explainTLS(_ *plan.Server, err error) (message, hint string) {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	text := err.Error()
	switch {
	case errors.As(err, &unknown):
		return "the certificate is signed by an authority that is not trusted here", "tls.ca_file (--ca-file) names one to trust"
	case errors.As(err, &host):
		return "the certificate is not valid for " + host.Host, "use a name that it is valid for, or another certificate"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate is expired or not valid yet: " + invalid.Error(), "renew it, or correct the clock of this machine"
	case errors.As(err, new(tls.RecordHeaderError)), strings.Contains(text, "first record does not look like a TLS handshake"),
		strings.Contains(text, "server gave HTTP response to HTTPS client"), strings.Contains(text, "the server speaks HTTP, not HTTPS"):
		return "the server does not speak TLS", "did you mean http://?"
	case strings.Contains(text, "HTTP request to an HTTPS server"), strings.Contains(text, "HTTP request was sent to HTTPS port"):
		return "the server speaks TLS", "write https://"
	}
	return "", ""
}

func explainNetwork(sv *plan.Server, err error) (message, hint string) {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return "the name " + dns.Name + " is not found: " + dns.Err, "check the spelling, and whether this machine needs a VPN or an /etc/hosts entry to resolve it"
	case syserr.Is(err, syscall.ECONNREFUSED):
		at, address := "", sv.URL
		for e, ok := errors.AsType[*url.Error](err); ok; e, ok = errors.AsType[*url.Error](e.Err) {
			address = e.URL // of the innermost request, which can be one for a token
		}
		if u, bad := url.Parse(address); bad == nil && u.Host != "" {
			at = " by " + u.Host
			if proxy, _ := http.ProxyFromEnvironment(&http.Request{URL: u}); proxy != nil {
				return "connection refused by the proxy " + proxy.Host, "it is set in the environment (HTTP_PROXY, HTTPS_PROXY); NO_PROXY=" + u.Hostname() + " connects without it"
			}
		}
		return "connection refused" + at, "nothing is listening there: is the server running, and is this its port?"
	case strings.HasSuffix(err.Error(), "before a response: EOF") && strings.HasPrefix(sv.URL, "http:"):
		return err.Error(), "is this the right port? A server on HTTPS needs https://"
	case strings.Contains(err.Error(), "malformed HTTP"), strings.Contains(err.Error(), "readLoopPeekFailLocked"): // text before the request
		return "the response is not HTTP: " + strings.Replace(err.Error(), "readLoopPeekFailLocked: %!w(<nil>)", "malformed HTTP response", 1), "is this the right port? A server on HTTPS needs https://"
	}
	return "", ""
}

func explainHTTP(_ *plan.Server, err error) (message, hint string) {
	var he *wire.HTTPError
	if !errors.As(err, &he) || he.RPC != nil {
		return "", ""
	}
	status := fmt.Sprintf("HTTP %d %s", he.Info.Status, http.StatusText(he.Info.Status))
	switch {
	case he.Info.Status == http.StatusNotFound, he.Info.Status == http.StatusMethodNotAllowed:
		return status, "is the path right? Servers often listen at /mcp, older ones at /sse"
	case he.Info.Status < 300 && he.Info.ContentType != "" && !isMCPType(he.Info.ContentType):
		got := protocol.Excerpt([]byte(he.Info.ContentType))
		return "not an MCP response: expected application/json or text/event-stream, got " + got,
			"is this the address of an MCP server?"
	}
	return "", ""
}

// isMCPType reports whether a content type is one of those that MCP uses.
func isMCPType(contentType string) bool {
	return strings.HasPrefix(contentType, "application/json") || strings.HasPrefix(contentType, "text/event-stream")
}

// listening matches an address that a program has written.
var listening = lazy.Regexp(`\bhttps?://[\w.\[\]-]+:\d+[\w./-]*`)

func explainSilence(sv *plan.Server, err error) (message, hint string) {
	var oe *wire.OpenError
	var late *mcp.TimeoutError
	if !errors.As(err, &oe) || !errors.As(err, &late) {
		return "", ""
	}
	message = fmt.Sprintf("no response to %s within %s", late.Method, strings.TrimPrefix(late.Limit, "connect_timeout "))
	if late.Limit == "" {
		return "", ""
	}
	switch {
	case sv.URL != "":
		return message, "is this the address of an MCP server? a longer connect_timeout gives it more time"
	case oe.Silent && listening().MatchString(strings.Join(oe.StderrTail, "\n")):
		return message, "it listens for HTTP: start it yourself, and write url: " + listening().FindString(strings.Join(oe.StderrTail, "\n")) + " in place of command, or start it with its option for stdio"
	case oe.Silent:
		return message + "; the server wrote nothing to stdout", "is it a stdio MCP server? a longer connect_timeout gives it more time"
	}
	return message, "a longer connect_timeout gives it more time"
}
