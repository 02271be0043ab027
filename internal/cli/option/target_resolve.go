package option

import (
	"slices"
	"strings"

	"mcptest/internal/base/secret"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/spec/plan"
)

// Resolve returns the server's definition and declares its secrets.
func (f *TargetFlags) Resolve(s cmdutil.Streams, argv []string, redactor *secret.Redactor) (*plan.Server, error) {
	f.tokenFile, f.lost = TokenPath(f.tokenFile, s)
	isConfigured := f.URL == "" && len(argv) == 0 && len(f.Configs) > 0
	if CountTrue(f.URL != "", len(argv) > 0, f.Server != "" || isConfigured) != 1 {
		return nil, Invalid("expected exactly one server: --url URL, --server NAME of a suite, or -- command args…%s", f.meant)
	}
	if err := f.checkSettings(); err != nil {
		return nil, err
	}
	switch {
	case f.URL != "":
		return f.resolveAddress(s, redactor)
	case len(argv) > 0:
		if f.hasHTTPOnly() {
			return nil, Invalid("-H, --bearer-token-env, --ca-file, --insecure and --transport require --url")
		}
		redactor.Add(secret.FindInEnviron(s.Env)...)
		return f.Program(s, argv)
	}
	if f.hasHTTPOnly() {
		return nil, Invalid("-H, --bearer-token-env, --ca-file, --insecure and --transport require --url; " +
			"servers of a suite are configured in the suite")
	}
	return f.OfSuite(s, redactor)
}

// checkSettings reports the first value that a flag does not take.
func (f *TargetFlags) checkSettings() error {
	if f.Timeout <= 0 || f.ConnectTimeout <= 0 {
		return Invalid("--timeout and --connect-timeout must be greater than zero")
	}
	if f.waitForReady < 0 {
		return Invalid("--wait-for-ready must be greater than zero")
	}
	if err := f.limits.Check(); err != nil {
		return err
	}
	if !slices.Contains([]string{wire.HTTPAuto, wire.StreamableHTTP, wire.HTTPSSE}, f.Transport) {
		return Invalid("--transport: expected auto, streamable-http or sse, got %q", f.Transport)
	}
	if f.Protocol != mcp.Auto && !slices.Contains(protocol.Versions(), f.Protocol) {
		known := strings.Join(protocol.Versions(), ", ")
		return Invalid("--protocol: expected auto or one of %s, got %q", known, f.Protocol)
	}
	_, err := KnownClient(f.Client)
	return err
}

// CountTrue counts the conditions that hold.
func CountTrue(conditions ...bool) (n int) {
	for _, holds := range conditions {
		if holds {
			n++
		}
	}
	return n
}
