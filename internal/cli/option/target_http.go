package option

import (
	"fmt"
	"net/http"
	"strings"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/client/auth"
	"mcptest/internal/client/wire"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

func (f *TargetFlags) hasHTTPOnly() bool {
	return len(f.Headers) > 0 || f.BearerEnv != "" || f.CAFile != "" || f.Insecure || f.Transport != wire.HTTPAuto
}

// resolveAddress returns the server at the address of --url.
func (f *TargetFlags) resolveAddress(s cmdutil.Streams, redactor *secret.Redactor) (*plan.Server, error) {
	sv := f.makeServer()
	u, err := HTTPURL("--url", f.URL, redactor)
	if err != nil {
		return nil, err
	}
	if password, ok := u.User.Password(); ok {
		redactor.Add(password)
	}
	sv.URL = f.URL
	for _, h := range f.Headers {
		name, value, err := SplitHeader(h)
		if err != nil {
			return nil, err
		}
		sv.Headers = append(sv.Headers, plan.Header{Name: http.CanonicalHeaderKey(name), Value: value})
		redactor.Add(value)
		if _, credential, ok := strings.Cut(value, " "); ok && strings.EqualFold(name, "Authorization") {
			redactor.Add(credential)
		}
	}
	if f.BearerEnv != "" {
		if err := EnvSet(s.Env, "--bearer-token-env", f.BearerEnv); err != nil {
			return nil, err
		}
		token := cmdutil.LookupEnv(s.Env, f.BearerEnv)
		redactor.Add(token)
		sv.Headers = append(sv.Headers, plan.Header{Name: "Authorization", Value: "Bearer " + token})
	}
	if !sv.SendsCredentials() {
		f.useLogin(s, sv)
	}
	if f.CAFile != "" || f.Insecure {
		sv.TLS = &suite.TLS{CAFile: f.CAFile, Insecure: f.Insecure}
	}
	return sv, nil
}

// useLogin uses the token of an earlier login to this address, if there is one.
func (f *TargetFlags) useLogin(s cmdutil.Streams, sv *plan.Server) {
	if f.tokenFile == "" {
		return
	}
	l, err := auth.OpenStore(f.tokenFile).Find(auth.Query{Server: sv.URL})
	switch {
	case err != nil:
		fmt.Fprintln(s.Err, "mcptest: warning: "+term.Escape(err.Error()))
	case l != nil:
		sv.Auth = &suite.Auth{OAuth: &suite.OAuth{Grant: auth.AuthorizationCode}}
	}
}
