// Package bundle opens MCP bundles (files that end in .mcpb: a ZIP archive with a
// manifest) and turns one into a program to start.
//
// Entry points: [Open] reads the archive's directory and its manifest, and starts and
// unpacks nothing. [Bundle.Program] puts the values of the user's options into the
// manifest's command, as the npm package @anthropic-ai/mcpb 2.1.2 does, and returns
// arguments, environment and folder. [Program.Prepare] unpacks the bundle right before
// a start. [Bundle.Faults] examines what keeps a bundle from starting elsewhere.
//
// # Invariants
//
//   - Nothing is written outside of the folder that a [Folders] has chosen: an archive
//     with a name that leads elsewhere, a link, or two names that a system may take for
//     one is refused as a whole, before anything is unpacked.
//   - Size and number of entries are limited, and so is what they unpack to.
//   - The folder is removed by the owner that Prepare gets; if the runner is killed, by
//     the watchdog; if that was killed, too, by the next bundle that is unpacked.
//   - A mistake is a diagnostic: in the manifest with line and column, in the archive
//     with the name of the file.
package bundle
