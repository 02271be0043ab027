// Package jsonpath parses and follows the paths of targets: names, ["quoted"] names,
// [0], [-1], [*] and [a:b], as defined by RFC 9535. A path never fails on a value: it
// selects nothing.
package jsonpath
