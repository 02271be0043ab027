// Package skill judges the skills that a server serves (extension io.modelcontextprotocol/skills):
// the entries of skills/list and skills/get, and the files that they name.
//
// Entry points: [Read] reads an entry; [Entry.Judge] returns the rules that it breaks, and
// [JudgeAll] those that several entries break together; [Entry.CompareFrontmatter] and
// [File.Compare] hold an entry against what was read.
//
// Invariants:
//   - Nothing is requested: package run/probe/skills does.
//   - What two readings of YAML or of the Agent Skills specification allow breaks no rule.
//   - An entry with 100,000 files costs time in proportion to its size, and has at most
//     [mostShown] findings of a rule.
package skill
