// Package gen generates what is published about the suite language: the JSON Schema of
// suite files, the reference pages, the manual pages, and the texts of `mcptest explain`.
//
// The entry point is Schema. It walks the structs of package suite, reads the comments of
// their fields, and adds the table of matchers:
//
//	suite's structs and comments ┐
//	expect's matchers            ├─ Schema ─▶ schemas/v1.json ─ Keys ─▶ Topics, Pages
//	mcp's violations             ┘
//
// Everything else about keys is read from the schema, so that editors, pages and explain
// agree. `go generate ./...` writes the files; a test fails if a committed file differs
// from the generated one. Only tests run the generator, so it is in test files.
//
// Invariants:
//   - the schema never rejects what the decoder accepts; where it is more lenient, the kind
//     of mistake is listed in the test that compares them;
//   - a `${…}` placeholder is accepted wherever the language expands one;
//   - every key has a description, an example and, where it has one, its default.
package gen

//go:generate go test ../../run/probe -run ^TestPlantedTable$ -update
//go:generate go test . -run ^TestGeneratedFiles$ -update
