package stress

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/web"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/process/probe"
	"mcptest/internal/process/proc"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/inspect"
	"mcptest/internal/spec/plan"
)

// target selects the server under stress, and the tool that is called.
type target struct {
	option.TargetFlags
	remote     bool
	tool, args string
	policy     allow.Policy
	settings   []string // environment of the program, NAME=value, unless the user sets NAME
}

func (f *target) add(cmd *cobra.Command) {
	f.Add(cmd)
	option.AddClient(cmd, &f.Client)
	fl := cmd.Flags()
	fl.BoolVar(&f.remote, "allow-remote", false, "allow an address that is not this machine")
	fl.StringVar(&f.tool, "tool", "", "`tool` to call")
	fl.StringVar(&f.args, "args", "{}", "arguments of the tool, a JSON `object`")
	fl.StringArrayVar(&f.policy.Named, "allow-writes", nil, "`tool` without readOnlyHint that may be called; may be repeated")
}

// running is a server that is ready.
type running struct {
	*option.Viewer
	program *proc.Process // that --url with a command started; nil: none
}

// begin checks the flags and finds the server. A command after an address is started, on a
// free port if both contain {port}; its end is the caller's, or that of end.
func (f *target) begin(
	cmd *cobra.Command, s cmdutil.Streams, argv []string, opts ...func(*inspect.Options),
) (ctx context.Context, r *running, end func(), err error) {
	if v, err := jsonv.Parse([]byte(f.args)); err != nil || v.Kind() != jsonv.KindObject {
		return nil, nil, nil, option.Invalid("--args: expected a JSON object")
	}
	if f.tool == "" && f.args != "{}" {
		return nil, nil, nil, option.Invalid("--args requires --tool")
	}
	var program *plan.Server
	if f.URL != "" && len(argv) > 0 {
		if program, err = f.startOnPort(s, argv); err != nil {
			return nil, nil, nil, err
		}
		argv = nil
	}
	ctx, l, end, err := f.Prepare(cmd, s, argv, opts...)
	if err != nil {
		return nil, nil, nil, err
	}
	r = &running{Viewer: l}
	u, bad := url.Parse(l.Server.URL)
	if l.Server.URL != "" && !f.remote && (bad != nil || !web.IsLoopback(u.Hostname())) {
		end()
		return nil, nil, nil, option.Invalid("%s is not this machine: --allow-remote allows the load on it", l.Redactor.String(u.Host))
	}
	l.Server.Env = f.addSettings(s.Env, l.Server.Env)
	if program != nil {
		l.Redactor.Add(secret.FindInEnviron(s.Env)...)
		program.Env = f.addSettings(s.Env, program.Env)
		if r.program, err = serve(ctx, l, program); err != nil {
			err = l.Failed(ctx, "", err)
			end()
			return nil, nil, nil, err
		}
	}
	return ctx, r, end, nil
}

// startOnPort returns the program of a command, and puts a free port in place of {port}.
func (f *target) startOnPort(s cmdutil.Streams, argv []string) (*plan.Server, error) {
	const word = "{port}"
	if strings.Contains(f.URL, word) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, option.Fail(option.ExitInternal, "find a free port: %v", err)
		}
		_, port, _ := net.SplitHostPort(l.Addr().String())
		_ = l.Close()
		f.URL = strings.ReplaceAll(f.URL, word, port)
		argv = slices.Clone(argv)
		for i := range argv {
			argv[i] = strings.ReplaceAll(argv[i], word, port)
		}
	}
	if _, err := option.HTTPURL("--url", f.URL, secret.NewRedactor()); err != nil {
		return nil, err
	}
	return f.Program(s, argv)
}

// addSettings adds the settings to an environment; those that the user has set win.
func (f *target) addSettings(user, env []string) []string {
	out := slices.Clone(env)
	for i, kv := range f.settings {
		name, _, _ := strings.Cut(kv, "=")
		given := cmdutil.LookupEnv(env, name)
		if v := cmp.Or(given, cmdutil.LookupEnv(user, name)); v != "" {
			f.settings[i] = name + "=" + v
		}
		if given == "" {
			out = append(out, f.settings[i])
		}
	}
	return out
}

// serve starts the program of an address and waits until it accepts connections.
func serve(ctx context.Context, l *option.Viewer, program *plan.Server) (*proc.Process, error) {
	u, _ := url.Parse(l.Server.URL) // was checked
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	p, err := proc.Start(context.WithoutCancel(ctx), proc.Spec{
		Argv:     program.Argv,
		Dir:      program.Dir,
		Env:      program.Env,
		Prepare:  program.Prepare(),
		Registry: l.World.Registry,
	})
	if err != nil {
		return nil, err
	}
	ready, err := probe.Parse("tcp://" + net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, l.Server.ConnectTimeout)
	defer cancel()
	return p, ready.Wait(limited, probe.Watch{Process: p, Owned: true})
}

// findTool returns the definition of --tool if it may be called many times. The connection
// is open.
func (f *target) findTool(ctx context.Context, l *option.Viewer) (jsonv.Value, error) {
	tools, err := l.Conn.List(ctx, "tools/list", "tools")
	if err != nil {
		return jsonv.Value{}, l.Failed(ctx, "tools/list", err)
	}
	i := slices.IndexFunc(tools, func(t jsonv.Value) bool { return t.Lookup("name").Text() == f.tool })
	if i < 0 {
		return jsonv.Value{}, option.Invalid("--tool: %s", l.Text(inspect.NoSuch("tool", f.tool, inspect.Names(tools, "name"))))
	}
	if why := f.policy.Repeats(tools[i]); why != "" {
		return jsonv.Value{}, option.Invalid("%s", l.Text(why))
	}
	return tools[i], nil
}
