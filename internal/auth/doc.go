// Package auth gets OAuth tokens for servers under test, and puts them on
// requests. The login by redirects (discovery by RFC 9728 and RFC 8414, PKCE,
// resource indicators of RFC 8707, registration) and its step-up are those of
// the official Go SDK, the device grant (RFC 8628) that of golang.org/x/oauth2;
// what is here is which grant does what, what a server may not decide, and the
// file in which logins of people are kept.
//
// Entry points: [New] makes an [Authorizer] of a [Config]; it fits
// mcp.HTTPOptions.Auth. [LogIn] asks a [Person] and keeps the [Login] in a
// [Store], from which an Authorizer takes it later.
//
// Invariants:
//   - A secret of the client goes only to a token endpoint that the user named
//     or that belongs to the issuer the user named. The server under test never
//     chooses. Such a secret is never written to the store.
//   - Every token is declared with Config.Secret before it is used, so that no
//     output shows it; no error quotes the answer of a token endpoint.
//   - The store is one file of mode 0600. It is replaced in one step, and
//     changed by one process at a time: a refresh happens with the file locked,
//     because a refresh token may be good only once.
//   - A token goes to the address somebody logged in to, and nowhere else.
//   - Every wait ends: with the context of the request, and with requestTime;
//     that of [LogIn] with its context.
//   - An Authorizer opens no browser and prompts for nothing. Redirects of a headless
//     login are followed to the redirect address, which is never requested, and
//     no further than maxHops.
package auth
