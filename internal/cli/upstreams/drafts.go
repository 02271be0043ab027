package upstreams

import (
	"strings"

	"mcptest/internal/base/source"
	"mcptest/internal/cli/option"
	"mcptest/internal/report/result"
	"mcptest/internal/run/doubles"
	"mcptest/internal/server/recording"
	"mcptest/internal/spec/draft"
	"mcptest/internal/spec/plan"
)

// ParseDrafts reads the recordings that `init --upstream` names, each as VARIABLE=FILE.
func ParseDrafts(values []string) ([]*draft.Upstream, source.Diagnostics, error) {
	var out []*draft.Upstream
	var diags source.Diagnostics
	from := map[string]string{} // the flag of an upstream
	for _, v := range values {
		env, path, found := strings.Cut(v, "=")
		if !found || env == "" || path == "" || strings.ContainsAny(env, " \x00") {
			return nil, nil, option.Invalid("--upstream: expected VARIABLE=FILE, got %q: the variable in which the server takes the address of the API, and a recording", v)
		}
		file, more := recording.Read(path, path, recording.Any)
		diags = append(diags, more...)
		if file == nil {
			continue
		}
		if other := from[file.Upstream]; other != "" {
			return nil, nil, option.Invalid("--upstream: %s and %s are recordings of the same upstream, %q", other, path, file.Upstream)
		}
		from[file.Upstream] = path
		u := &draft.Upstream{Name: file.Upstream, StandsFor: file.StandsFor(), Env: env, Routes: file.Routes()}
		if u.StandsFor == "" || len(u.Routes) == 0 {
			return nil, nil, option.Invalid("--upstream: %s has no stands_for, or no exchanges; write it again with %s", path, recording.Again(file.Upstream))
		}
		out = append(out, u)
	}
	return out, diags, nil
}

// StartDouble starts the doubles of a server and passes their addresses to it.
func StartDouble(server *plan.Server) (end func(), err error) {
	group := doubles.New(doubles.Deps{Report: func(result.Finding) {}}, server.Upstreams, server.Name)
	ready, started, err := group.Prepare(server)
	if err != nil {
		group.Close()
		return func() {}, option.Fail(option.ExitInternal, "%v", err)
	}
	started()
	*server = *ready
	return group.Close, nil
}
