// Package dotenv parses .env files (lines of NAME=value) and looks up variables in
// the environment and in these files.
//
//	# a comment
//	export NAME = plain text, up to a blank and #   # like this one
//	SINGLE='taken literally, line breaks included'
//	DOUBLE="with \n \r \t \" \\ \$ and \` as escapes"
//
// Placeholders are not expanded, so that a password may contain a "$". The package
// exists because error messages must not repeat the content of the file.
package dotenv
