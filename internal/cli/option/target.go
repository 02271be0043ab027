package option

import (
	"time"

	"github.com/spf13/cobra"

	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/run/connect"
	"mcptest/internal/spec/plan"
)

// TargetFlags select the server that a command connects to: an address, a command
// after --, or a server of a suite.
type TargetFlags struct {
	meant string // a hint, if an argument is an address
	SuiteFlags
	HTTPFlags
	Server         string
	env            []string
	Timeout        time.Duration
	ConnectTimeout time.Duration
	JSON           bool
	tokenFile      string
	lost           error // why tokenFile is empty
	waitForReady   time.Duration
	limits         LimitFlags
	compiledOnce   bool // whether the warnings of the suite were printed
	sessions       *connect.Sessions
}

// TargetUse is the usage of a command that takes a server, after its own arguments.
const TargetUse = " (--url URL | --server NAME | -- command args…)"

// Add defines the flags.
func (f *TargetFlags) Add(cmd *cobra.Command) {
	fl := cmd.Flags()
	f.sessions = connect.NewSessions()
	f.HTTPFlags.Add(cmd)
	fl.StringArrayVar(&f.env, "env", nil, "pass this environment `variable` to the command after --; may be repeated")
	fl.StringVar(&f.Server, "server", "", "the server of this `name` in a suite (see --config)")
	fl.DurationVar(&f.Timeout, "timeout", plan.DefaultTimeout, "time limit for each request")
	fl.DurationVar(&f.ConnectTimeout, "connect-timeout", plan.DefaultConnectTimeout, "time limit for start and handshake")
	fl.BoolVar(&f.JSON, "json", false, "print JSON")
	fl.DurationVar(&f.waitForReady, "wait-for-ready", 0, "wait up to this long for the server to become ready; exit 3 if it does not")
	f.limits.Add(cmd)
	AddTokenFile(cmd, &f.tokenFile)
	f.SuiteFlags.Add(cmd)
}

// EnvNames returns the variables of the environment that the command after -- gets.
func (f *TargetFlags) EnvNames() []string { return f.env }

// Palette returns the colors of standard output.
func (f *TargetFlags) Palette(s cmdutil.Streams) (term.Palette, error) {
	profile, err := term.Detect(s.Out, s.Env, f.Color)
	if err != nil {
		return term.Palette{}, Invalid("%v", err)
	}
	return term.NewPalette(profile), nil
}
