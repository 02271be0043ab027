// Package server contains the commands of mcptest that use one server and need no
// suite: tools, resources, prompts, call, check, lock, diff, doctor, login, logout
// and mock. Each New…Cmd function returns one command.
//
// Invariants:
//   - a server is started or contacted only after all flags are validated;
//   - data of a server is masked and escaped before it is printed.
package server
