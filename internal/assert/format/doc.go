// Package format checks texts against named formats such as dates, addresses and
// URIs. The matcher format and the documentation use its sorted table.
package format
