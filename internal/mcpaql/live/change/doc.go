// Package change finds what differs between two answers, or two readings of the lists,
// of an adapter, and leaves out what changes by itself.
//
// Census is a reading of all lists, and Mask what differs between answers to the same
// request. It only compares: package guard reads the lists and decides what is harm.
package change
