// Package jsonpath reads the paths that targets are made of, and follows them: names,
// ["quoted"] names, [0], [-1], [*] and [a:b], with the meaning RFC 9535 gives
// these forms. A path never fails on a value: it selects nothing.
package jsonpath
