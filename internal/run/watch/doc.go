// Package watch repeats a run when files change or keys are pressed: [RunLoop] is the
// entry point, [Files] notices changes of files, [Keys] reads a terminal.
//
// Invariants:
//   - a file counts as changed only if its content is another than when a run read
//     it, so that files which a run writes, and saving without a change, start none;
//   - folders are watched, not files: an editor may replace a file;
//   - a change during a run starts another one after it.
package watch
