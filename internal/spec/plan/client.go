package plan

import (
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/client/identity"
	"mcptest/internal/spec/suite"
)

// FindClient returns a known client, and whether there is one of that name.
func FindClient(profile string) (c Client, ok bool) {
	p, ok := identity.Named(profile)
	if !ok {
		return Client{}, false
	}
	capabilities, err := jsonv.Parse([]byte(p.Capabilities))
	if err != nil {
		panic("the capabilities of the profile " + profile + ": " + err.Error()) // a test reads them all
	}
	return Client{
		Profile:  profile,
		Name:     p.ClientName,
		Title:    p.ClientTitle,
		Version:  p.ClientVersion,
		Declares: capabilities,
	}, true
}

// newClient returns the client that a server's client: describes. Its own members win over
// those of the profile.
func newClient(written *suite.Client) Client {
	if written == nil {
		return Client{}
	}
	c, _ := FindClient(written.Profile) // package suite reports an unknown one
	if written.Name != "" && written.Name != c.Name {
		c.Name, c.Title = written.Name, "" // the title belongs to the other name
	}
	if written.Version != "" {
		c.Version = written.Version
	}
	if written.Title != "" {
		c.Title = written.Title
	}
	if written.Capabilities != nil {
		c.Declares, c.Exact = written.Capabilities.Written, true
	}
	if written.Extensions != nil {
		if c.Declares.IsAbsent() {
			c.Declares = jsonv.Object()
		}
		c.Declares = c.Declares.With("extensions", written.Extensions.JSON())
	}
	return c
}

// warnUnasked warns of answers that a known client is not asked for, because it does not
// declare that it can be.
func (c *compiler) warnUnasked(sv *Server, r *suite.Respond, path string) {
	if sv == nil || r == nil || sv.Client.Profile == "" || sv.Client.Exact {
		return
	}
	warn := func(pos source.Pos, key, capability string) {
		if !sv.Client.Declares.Lookup(capability).IsAbsent() {
			return
		}
		c.dec.AddNew(source.Warnf(
			pos,
			path+"."+key,
			"%s does not declare %s: a server does not ask this client, which the answer declares in addition",
			sv.Client.Profile,
			capability,
		))
	}
	if len(r.Sampling.List) > 0 {
		warn(r.Sampling.Pos, "sampling", "sampling")
	}
	if len(r.Elicitation.List) > 0 {
		warn(r.Elicitation.Pos, "elicitation", "elicitation")
	}
	if r.HasRoots {
		warn(r.Pos, "roots", "roots")
	}
}
