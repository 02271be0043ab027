// Package keep inserts a test into the text of a suite that a person wrote.
//
// [Insert] is the entry point. It finds the place of the test, writes the test in the style
// of its surroundings (blocks, flow style or JSON; indentation; line ends), and returns the
// bytes to insert. [Open] reads the file, and File.Write replaces it.
//
// Invariants:
//   - no byte outside of the insertion changes;
//   - the suite with the insertion parses, and differs from the suite before in one more
//     item of one list: each place that is tried is checked by parsing the whole;
//   - a file that is not what was shown, or that cannot be written, is left as it is.
package keep
