// Package dotenv parses .env files, lines of NAME=value, and looks variables up in
// the environment and in them.
//
//	# a comment
//	export NAME = plain text, up to a blank and #   # like this one
//	SINGLE='taken literally, line breaks included'
//	DOUBLE="with \n \r \t \" \\ \$ and \` as escapes"
//
// Nothing in it is expanded, so that a password may hold a "$". The package
// exists because the messages must not repeat what the file holds.
package dotenv
