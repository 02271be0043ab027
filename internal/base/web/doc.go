// Package web makes the HTTP transports of requests outside of MCP sessions, each with the
// rules for connections and redirects that its purpose needs.
package web
