package explain

import (
	"slices"
	"strings"

	"mcptest/internal/result"
)

// Variant holds the totals of one variant of a server.
type Variant struct {
	Server, Name string
	Totals       Section
}

// Variants returns the totals of each variant, grouped by server, in plan order. It
// is empty for runs without variants, whose cases are not read.
func Variants(r *result.Run) ([]*Variant, error) {
	if !slices.ContainsFunc(r.Servers, func(s result.Server) bool { return strings.Contains(s.Name, "@") }) {
		return nil, nil
	}
	var servers []string
	of := map[string][]*Variant{}
	for c, err := range result.Select(r.Cases) {
		if err != nil {
			return nil, err
		}
		server, name := SplitVariant(c.Server)
		if name == "" {
			continue
		}
		i := slices.IndexFunc(of[server], func(v *Variant) bool { return v.Name == name })
		if i < 0 {
			if len(of[server]) == 0 {
				servers = append(servers, server)
			}
			i = len(of[server])
			of[server] = append(of[server], &Variant{Server: server, Name: name})
		}
		of[server][i].Totals.add(c)
	}
	var out []*Variant
	for _, server := range servers {
		out = append(out, of[server]...)
	}
	return out, nil
}

// SplitVariant splits the name of a variant of a server; variant is empty for other
// servers.
func SplitVariant(name string) (server, variant string) {
	server, variant, _ = strings.Cut(name, "@")
	return server, variant
}
