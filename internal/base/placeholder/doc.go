// Package placeholder parses texts with placeholders: ${name} and ${name:-default}. The
// caller decides which names are valid and what their values are: suites (internal/spec/suite),
// manifests of mock servers (internal/server/manifest), command lines (internal/base/shellwords).
package placeholder
