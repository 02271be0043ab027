// Package auth gets OAuth tokens for servers under test and adds them to requests. It
// discovers the authorization server (RFC 9728, RFC 8414), registers a client (RFC
// 7591), selects the grant, restricts what a server may decide, and stores user logins.
// The requests for tokens, with PKCE and resource indicators (RFC 8707), are those of
// golang.org/x/oauth2.
//
// Entry points: [New] makes an [Authorizer] of a [Config], for mcp.HTTPOptions.Auth.
// [LogIn] asks a [Person] and stores the [Login] in a [Store], for later use by an
// Authorizer.
//
// Invariants:
//   - A secret of the client is only sent to a token endpoint that the user
//     configured or that belongs to the issuer that the user configured. The server
//     under test never chooses. Such a secret is never written to the store.
//   - Every token is passed to Config.Secret before it is used, so that it is masked
//     in all output; no error quotes the response of a token endpoint.
//   - The store is one file of mode 0600. It is replaced atomically, and changed by
//     one process at a time: a refresh locks the file, because a refresh token may be
//     valid only once.
//   - A token is only sent to the address that the user logged in to.
//   - Every wait is limited: by the context of the request and requestTime; that of
//     [LogIn] by its context.
//   - An Authorizer opens no browser and prompts for nothing. A headless login
//     follows at most maxHops redirects, up to the redirect address, which it never
//     requests.
package auth
