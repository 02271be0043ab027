// Package opener makes an opening script of a recorded client.
//
// Entry point: [Find] reads how the clients of a cassette opened their connections, and
// [Opening.FormatYAML] writes one of them as a file of rules for mcptest check. What a recording
// does not show is not invented: a script has no frames for an era that the recorded server
// did not speak, and steps whose answer may not matter are optional.
package opener
