// Package placeholder parses texts with placeholders: ${name} and ${name:-default}. The
// caller decides which names are valid and what their values are: suites (internal/suite),
// manifests of mock servers (internal/mock), command lines (internal/shellwords).
package placeholder
