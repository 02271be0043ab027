package cmdutil

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Describe describes a program and its commands, for the reference and the
// manual page.
func Describe(root *cobra.Command) Program {
	p := Program{Name: root.Name(), Short: root.Short, Long: root.Long}
	for _, cmd := range root.Commands() {
		p.Commands = append(p.Commands, listCommands(cmd)...)
	}
	return p
}

// listCommands describes a command and those below it.
func listCommands(cmd *cobra.Command) []Command {
	if cmd.Hidden {
		return nil
	}
	_, name, _ := strings.Cut(cmd.CommandPath(), " ")
	c := Command{Name: name, Synopsis: cmd.UseLine(), Short: cmd.Short, Long: cmd.Long, Example: cmd.Example}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			c.Flags = append(c.Flags, flagOf(f))
		}
	})
	out := []Command{c}
	for _, sub := range cmd.Commands() {
		out = append(out, listCommands(sub)...)
	}
	return out
}

func flagOf(f *pflag.Flag) Flag {
	value, doc := pflag.UnquoteUsage(f)
	out := Flag{Name: f.Name, Letter: f.Shorthand, Value: value, Doc: doc}
	switch f.DefValue {
	case "", "[]", "false", "0", "0s":
	default:
		out.Default = f.DefValue
	}
	return out
}
