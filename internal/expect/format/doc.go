// Package format checks texts against named formats: dates, addresses, URIs.
// The matcher format and the documentation read its one sorted table.
package format
