// Package record records a live run and plays it back.
//
// A run reaches its adapter, the clock and the ends of its contexts through a
// Backend only, so the same answers at the same times lead to the same run. A
// recorder writes them to a file of JSON lines, without secrets; a player
// answers from the file and ends a run that asks for anything else.
package record
