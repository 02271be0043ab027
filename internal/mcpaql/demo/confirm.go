package demo

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"time"

	"mcptest/internal/base/jsonv"
)

// tokenTime is how long a token is valid.
const tokenTime = 5 * time.Minute

// confirm requires a confirmation of operations that cannot be undone, and checks the
// token of a call that carries one. It returns the parameters without the token.
func (a *Adapter) confirm(s session, op *operation, params jsonv.Value) (jsonv.Value, *failure) {
	if !a.isGated(op) {
		return params, nil
	}
	given, there := params.Get("confirmation_token")
	params = params.Without("confirmation_token")
	call := op.Name + " " + params.String()
	if !there || a.is("confirm-deaf") {
		return params, a.askFor(s, op, call)
	}
	t := s[given.Text()]
	if a.is("confirm-outlives") && t == nil {
		t = a.own[given.Text()]
	}
	switch {
	case t == nil && !a.is("confirm-anything"):
		return params, refuse("TOKEN_INVALID", "This token is not known: ask again to get one.")
	case t == nil:
	case t.call != call && !a.is("confirm-anywhere"):
		return params, refuse("TOKEN_SCOPE_MISMATCH", "This token confirms another call.")
	case t.used && !a.is("confirm-reused"):
		return params, refuse("TOKEN_ALREADY_USED", "This token was used: ask again to get another one.")
	default:
		t.used = true
	}
	return params, nil
}

func (a *Adapter) isGated(op *operation) bool {
	return a.has("confirm") && (op.Verb == "delete" || op.Name == "update_shelf")
}

func (a *Adapter) askFor(s session, op *operation, call string) *failure {
	var b [16]byte
	_, _ = rand.Read(b[:])
	name := "conf_" + hex.EncodeToString(b[:])
	if a.is("confirm-form") {
		name = strconv.Itoa(len(s) + 1)
	}
	t := &token{call: call}
	s[name], a.own[name] = t, t
	f := refuse("CONFIRMATION_REQUIRED", "%s has to be confirmed: call it again with the confirmation_token of the details.", op.Name).add("operation", jsonv.String(op.Name))
	if !a.is("confirm-bare") {
		f.add("confirmation_token", jsonv.String(name))
	}
	if !a.is("confirm-form") {
		f.add("expires_at", jsonv.String(time.Now().UTC().Add(tokenTime).Format(time.RFC3339)))
	}
	return f
}
