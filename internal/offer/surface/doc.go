// Package surface models what an MCP server offers: tools, resources, resource templates
// and prompts with their complete definitions, skills, and the server's handshake.
//
// Entry points: Fetch requests the lists from a server; New builds a Surface from fetched
// lists; Read reads one from a file (a result of tools/list, a record of mcptest, a lock
// file) or a folder (lock files, toolsnaps); Lock writes the lock file.
//
// Invariants:
//   - A Surface is canonical: definitions are sorted by kind and name, object members by
//     key, and numbers keep their digits. Equal surfaces have equal lock files, also if a
//     server lists its definitions in another order.
//   - A lock file contains no secret that the given redactor knows; a hash in its place
//     still shows that the text changed.
//   - A lock file that was edited, truncated or merged with conflicts is rejected with file
//     and line.
package surface
