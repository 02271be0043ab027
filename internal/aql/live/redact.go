package live

import (
	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

// What is secret is left out of everything that a run writes down: values of
// keys that sound like secrets, parameters that introspection calls
// sensitive, and the words that the user gave as secrets.

// redact is a value as it may be written down.
func (a *caller) redact(v jsonv.Value) jsonv.Value { return evidence.RedactKeys(v, a.sensitive) }

// noted is an answer as it may be written down.
func (a *caller) noted(r reply) jsonv.Value { return a.redact(r.response()) }
