// Package rows reads the rows of `cases:`: a list of maps, or a CSV, JSON Lines
// or YAML file. Read is the entry point; [Rows.At] parses one row when it is
// needed, so that many rows cost little more than their text.
package rows
