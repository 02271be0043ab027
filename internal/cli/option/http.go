package option

import (
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/base/secret"
	"mcptest/internal/spec/suite"
)

// HTTPFlags are an address and its connection settings.
type HTTPFlags struct {
	URL, BearerEnv, CAFile, Transport, Protocol string
	Headers                                     []string
	Insecure                                    bool
}

// Add defines the flags.
func (f *HTTPFlags) Add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.URL, "url", "", "server at this `address` (http or https)")
	fl.StringArrayVarP(&f.Headers, "header", "H", nil, "send this HTTP header, as in `'Name: value'`; no output shows the value")
	fl.StringVar(&f.BearerEnv, "bearer-token-env", "", "send the bearer token in this environment `variable`")
	fl.StringVar(&f.CAFile, "ca-file", "", "also trust the certificate authorities in this PEM `file`")
	fl.BoolVar(&f.Insecure, "insecure", false, "don't verify the server's certificate")
	fl.StringVar(&f.Transport, "transport", "auto", "HTTP transport: auto, streamable-http or sse")
	fl.StringVar(&f.Protocol, "protocol", "auto", "protocol `version` to use, or auto")
}

// HTTPURL parses an address of HTTP.
func HTTPURL(what, address string, redactor *secret.Redactor) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, Invalid("%s: %q is not an http or https address", what, redactor.String(address))
	}
	return u, nil
}

// SplitHeader splits the argument of -H.
func SplitHeader(h string) (name, value string, err error) {
	name, value, ok := strings.Cut(h, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || !suite.IsHeaderName(name) || strings.ContainsAny(value, "\r\n\x00") {
		return "", "", Invalid("-H: expected 'Name: value' (the argument is not shown because it may contain a secret)")
	}
	return name, value, nil
}
