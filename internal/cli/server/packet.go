package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/web"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/client/wire"
	"mcptest/internal/offer/apps"
	"mcptest/internal/offer/compat"
	"mcptest/internal/offer/packet"
	"mcptest/internal/run/connect"
	"mcptest/internal/spec/plan"
)

// formatPacket writes what the form of a directory asks for.
const formatPacket = "packet"

// packetFlags are what a packet is made of.
type packetFlags struct {
	form  packet.Form
	facts packet.Facts
	tests *plan.Plan // of the suite; nil without one
	// server is the server of the suite whose tests are taken; "": all tests are.
	server  string
	suite   string   // the file
	secrets []string // of the suite
}

// newPacket refuses what no packet can be made of, and reads the suite, before anything is
// started.
func newPacket(s cmdutil.Streams, target *option.TargetFlags, directories, groups []string) (*packetFlags, error) {
	forms, err := packet.Builtin()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, form := range forms {
		names = append(names, form.Directory)
	}
	known := display.Alternatives(names, "or")
	switch {
	case len(directories) == 0:
		return nil, option.Invalid("--format packet needs the directory whose form it is for: --for %s", known)
	case len(directories) > 1:
		return nil, option.Invalid("--format packet is for one directory, got %s", strings.Join(directories, ", "))
	case len(groups) > 0:
		return nil, option.Invalid("--format packet uses all groups of rules: leave --only out")
	}
	form, ok := packet.Named(forms, directories[0])
	if !ok {
		return nil, option.Invalid("--format packet: the form of %q is not known: --for %s", directories[0], known)
	}
	p := &packetFlags{form: form}
	if p.tests, err = target.Tests(s); err != nil {
		return nil, err
	}
	p.suite, p.secrets = strings.Join(target.Configs, " "), target.Secrets
	return p, nil
}

// refuseSeveral refuses a packet about several servers.
func (p *packetFlags) refuseSeveral(servers []string) error {
	if p == nil || len(servers) == 1 {
		return nil
	}
	return option.Invalid("--format packet is about one server: add --server %s", display.Alternatives(servers, "or"))
}

// addServer keeps what an open connection shows, and requests the challenge.
func (p *packetFlags) addServer(ctx context.Context, l *option.Viewer, limit time.Duration) {
	p.facts.Target = option.Where(l.Server)
	if l.Server.Pos.File != nil && l.Server.Pos.File.Name != "" { // it is defined in the suite
		p.server = l.Server.Name
	}
	p.facts.Info = l.Conn.Implementation()
	p.facts.URL = l.Server.URL
	p.facts.Mask = l.Redactor.String
	p.facts.Credentials = describeCredentials(l.Server)
	if l.Server.URL != "" {
		p.facts.Transport = nameTransport(l.Conn.Session().Facts().Kind)
	}
	if path := p.form.ChallengePath(); path != "" && l.Server.URL != "" {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		p.facts.Challenge = askChallenge(ctx, l, path)
	}
}

// keepViews keeps what was read of the views of a server.
func (p *packetFlags) keepViews(read apps.Server, notes []string) {
	if p == nil {
		return
	}
	p.facts.Public = strings.HasPrefix(read.Address, "https://")
	p.facts.Views = read.Shown()
	p.facts.Notes = notes
}

func nameTransport(kind string) string {
	if kind == wire.HTTPSSE {
		return "HTTP+SSE"
	}
	return "Streamable HTTP"
}

// describeCredentials says how requests to a server are authorized, "" if they are not.
func describeCredentials(sv *plan.Server) string {
	switch {
	case sv.Auth != nil && sv.Auth.OAuth != nil:
		return "a token of OAuth (" + sv.Auth.OAuth.Grant + ")"
	case sv.Auth != nil:
		return "a bearer token"
	case sv.SendsCredentials():
		return "credentials in a header or in the address"
	}
	return ""
}

// maxChallenge bounds what is read of the answer: a token is shorter.
const maxChallenge = 1024

// askChallenge requests the challenge as a directory does: at the host of the server, without
// credentials. A redirect is not followed.
func askChallenge(ctx context.Context, l *option.Viewer, path string) packet.Challenge {
	at, err := url.Parse(l.Server.URL)
	if err != nil {
		return packet.Challenge{}
	}
	at = &url.URL{Scheme: at.Scheme, Host: at.Host, Path: path}
	c := packet.Challenge{URL: at.String()}
	resp, err := getOnce(ctx, l, c.URL)
	if err != nil {
		c.Err = findReason(err)
		return c
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxChallenge+1))
	if err != nil {
		c.Err = "the body ends early: " + findReason(err)
		return c
	}
	c.Status, c.Location = resp.StatusCode, resp.Header.Get("Location")
	c.ContentType = resp.Header.Get("Content-Type")
	c.Long = len(body) > maxChallenge
	c.Body = string(body[:min(len(body), maxChallenge)])
	return c
}

// getOnce sends a GET without credentials.
func getOnce(ctx context.Context, l *option.Viewer, address string) (*http.Response, error) {
	config, err := connect.TLSConfig(l.Server)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", l.Connect().UserAgent)
	client := &http.Client{Transport: web.Once(config), CheckRedirect: web.NoRedirect}
	return client.Do(req)
}

// findReason is an error without the method and the address.
func findReason(err error) string {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	return err.Error()
}

// hideSecrets adds the secrets of the suite to what a function hides: the server need not be of it.
func (p *packetFlags) hideSecrets(mask func(string) string) func(string) string {
	own := secret.NewRedactor()
	own.Add(p.secrets...)
	if mask == nil {
		return own.String
	}
	return func(s string) string { return own.String(mask(s)) }
}

// write writes the packet of a list.
func (p *packetFlags) write(w io.Writer, list compat.List, rep compat.Report, rules compat.Rules) error {
	facts := p.facts
	if facts.Target == "" { // of a file
		facts.Target, facts.Stored = list.File, true
		facts.Info = list.Handshake.Lookup("serverInfo")
		facts.Mask = list.Mask
	}
	facts.Mask = p.hideSecrets(facts.Mask)
	facts.Program, facts.Day = "mcptest "+cmdutil.Version(), time.Now()
	facts.Tools, facts.Report, facts.Rules = list.Tools, rep, rules
	for _, other := range list.Others {
		if name, ok := strings.CutPrefix(other.Subject, "prompt "); ok {
			facts.Prompts = append(facts.Prompts, name)
		}
		for _, kind := range []string{"resource template ", "resource "} {
			if name, ok := strings.CutPrefix(other.Subject, kind); ok {
				facts.Resources = append(facts.Resources, name)
				break
			}
		}
	}
	slices.Sort(facts.Prompts)
	slices.Sort(facts.Resources)
	if p.tests != nil {
		facts.Suite, facts.Cases = p.suite, buildCases(p.tests, p.server)
	}
	return packet.Write(w, p.form, facts)
}
