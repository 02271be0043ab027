// Package auth gets OAuth tokens for servers under test, and puts them on
// requests. Discovery (RFC 9728, RFC 8414), PKCE, resource indicators (RFC
// 8707), registration and step-up are those of the official Go SDK; what is
// here is which grant does what, and what a server may not decide.
//
// Entry point: [New] makes an [Authorizer] of a [Config]; it fits
// mcp.HTTPOptions.Auth.
//
// Invariants:
//   - A secret of the client goes only to a token endpoint that the user named
//     or that belongs to the issuer the user named. The server under test never
//     chooses.
//   - Tokens stay in memory. Every one of them is declared with Config.Secret
//     before it is used, so that no output shows it.
//   - Every wait ends: with the context of the request, and with requestTime.
//   - No browser is opened. Redirects of a headless login are followed to the
//     redirect address, which is never requested, and no further than maxHops.
package auth
