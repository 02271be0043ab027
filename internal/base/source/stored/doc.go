// Package stored writes the generated YAML files that users keep in version control:
// lock files and snapshots. It writes values as blocks that are easy to review, and
// detects merge conflicts.
package stored
