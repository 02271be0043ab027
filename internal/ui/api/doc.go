// Package api serves the page of `mcptest ui` and answers its requests.
//
//	request ─▶ Guard (guard.go): Host, Origin, token, type, size ─▶ a route of the table
//	(routes.go) ─▶ package live, or a [Keeper] ─▶ masked JSON
//
// [New] returns the handler. Invariants:
//   - every request but the files of the page needs the token, and every request that does
//     something is a POST of a JSON object without unknown members;
//   - no request carries a program, a path, an address or a variable of the environment:
//     servers, tools, files and calls are numbers that were given out;
//   - what is sent is masked first, and each response forbids what the page does not need.
package api
