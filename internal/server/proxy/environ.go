package proxy

// trust are the variables that specify trusted authorities, by the programs that read
// them.
var trust = []string{
	"SSL_CERT_FILE",       // Go, OpenSSL, Python, Ruby, Rust
	"NODE_EXTRA_CA_CERTS", // Node.js, Bun
	"DENO_CERT",
	"REQUESTS_CA_BUNDLE", // Python requests
	"CURL_CA_BUNDLE",
	"AWS_CA_BUNDLE",
	"GIT_SSL_CAINFO",
	"CARGO_HTTP_CAINFO",
	"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
	"HTTPLIB2_CA_CERTS",
	"NIX_SSL_CERT_FILE",
	"PIP_CERT",
}

// Environ returns the variables that make a program use the proxy and trust it, as
// NAME=value.
func (p *Proxy) Environ() []string {
	url := "http://" + p.Addr()
	out := []string{
		"HTTP_PROXY=" + url, "HTTPS_PROXY=" + url, "http_proxy=" + url, "https_proxy=" + url, "ALL_PROXY=" + url, "all_proxy=" + url,
		"NO_PROXY=localhost,127.0.0.1,::1", "no_proxy=localhost,127.0.0.1,::1",
		"NODE_USE_ENV_PROXY=1", // Node.js from 22.21 and 24.5; in earlier versions fetch ignores proxies
	}
	for _, name := range trust {
		out = append(out, name+"="+p.certificate())
	}
	return out
}
