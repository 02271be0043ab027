// Package placeholder reads texts with placeholders: ${name} and
// ${name:-default}. What a name may be, and what its value is, is up to the
// language that has them: suites (internal/suite), manifests of mock servers
// (internal/mock), command lines (internal/shellwords).
package placeholder
