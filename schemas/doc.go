// Package schemas holds the published JSON Schemas. v1.json is generated from
// the structs of package suite and the matcher table of package match
// (go generate ./...); a test fails when it is out of date.
package schemas

import _ "embed"

// URL names V1, also in the first line of a suite, where editors read it.
const URL = "https://mcptest.sh/schema/v1.json"

// MockURL names Mock.
const MockURL = "https://mcptest.sh/schema/mock-v1.json"

// Mock is the JSON Schema (2020-12) of a file of the mock server, made from the structs of
// package manifest.
//
//go:embed mock-v1.json
var Mock []byte

// V1 is the JSON Schema (2020-12) of a suite file.
//
//go:embed v1.json
var V1 []byte
