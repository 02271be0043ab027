// Package secret masks secrets in text: values that were declared secret, texts that look
// like a credential, and values whose name is that of a credential.
//
// Entry points: [Redactor] masks text, [Name] decides whether a variable, header or
// parameter is a credential by its name.
//
// Invariants:
//   - a declared value of MinLength bytes or more appears in no output of a Redactor,
//     neither unchanged nor in one of the listed encodings;
//   - masked JSON is still valid JSON, and the text around a secret does not change;
//   - the package keeps a secret no longer than its Redactor exists.
package secret

// Mask replaces a secret.
const Mask = "[redacted]"

// MinLength is the minimum length in bytes of a declared secret that is masked
// anywhere in a text. A shorter one could be part of ordinary words.
const MinLength = 8
