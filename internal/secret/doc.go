// Package secret masks what must not be shown: values that were declared secret,
// texts with the form of a credential, and values under the name of one.
//
// Entry points: [Redactor] masks text, [Name] judges the name of a variable,
// header or parameter.
//
// Invariants:
//   - a declared value of MinLength bytes or more appears in no output of a
//     Redactor, neither as it is nor in one of the encodings it lists;
//   - masked text stays what it was for a reader: JSON stays JSON, and the text
//     around a secret is left alone;
//   - nothing here keeps a secret longer than its Redactor lives.
package secret
