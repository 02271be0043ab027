package run

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"mcptest/internal/auth"
	"mcptest/internal/mcp"
	"mcptest/internal/plan"
)

// letIn adds to the error of a server that refused a request without
// credentials (HTTP 401) what the suite has to say to be let in. A login that
// is kept for the address is not used unasked: a suite's verdict would hang on
// who runs it, and the suite would act as that person.
func letIn(sv *plan.Server, tokens string, err error) error {
	var he *mcp.HTTPError
	if u, bad := url.Parse(sv.URL); bad != nil || u.User != nil || sv.Auth != nil || !errors.As(err, &he) || he.Info.Status != http.StatusUnauthorized ||
		slices.ContainsFunc(sv.Headers, func(h plan.Header) bool { return h.Name == "Authorization" }) {
		return err
	}
	const block = "auth: {oauth: {grant: authorization_code}}"
	if tokens != "" {
		if l, _ := auth.OpenStore(tokens).Find(auth.Query{Server: sv.URL}); l != nil {
			return fmt.Errorf("%w; a login to this address is kept: say %s to use it", err, block)
		}
	}
	return fmt.Errorf("%w; it is sent no credentials: say auth: {bearer_token_env: NAME}, or %s with mcptest login", err, block)
}
