// Package stored is for the YAML files that the program writes itself and that
// people keep in version control: lock files and snapshots. It writes values as
// blocks that a reviewer can read, and finds what a merge leaves in them.
package stored
