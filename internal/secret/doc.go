// Package secret knows what must not be shown: the values that were declared
// secret, the texts whose form gives a credential away, and the names that
// belong to one.
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
