// Package skills holds the skills of a server against the rules of the extension
// io.modelcontextprotocol/skills: what it lists, what skills/get answers, and the files that
// are read. Package offer/skill judges; this package requests.
//
// Entry point: [Examine].
//
// Invariants:
//   - Each request declares the extension, so that a server which has skills for such clients
//     only is examined, too. Requests of other families do not.
//   - At most [mostSkills] skills and [mostFiles] files or [mostBytes] bytes are read; what is
//     left out is not verified.
//   - A file that differs counts after the list, the entry and the file were requested again.
//   - resources/directory/read is sent only to a server that declares it.
package skills
