package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mcptest/internal/gen"
)

// Programs describes both command lines, for the reference and the manual
// pages.
func Programs() []gen.Program {
	root := newRoot(Streams{})
	mcptest := gen.Program{
		Name: root.Name(), Short: root.Short, Long: root.Long, ExitCodes: exitCodes, ExitNote: exitNote,
	}
	for _, cmd := range root.Commands() {
		mcptest.Commands = append(mcptest.Commands, commandsOf(cmd)...)
	}
	return []gen.Program{mcptest, aqlProgram()}
}

// commandsOf describes a command and those below it.
func commandsOf(cmd *cobra.Command) []gen.Command {
	if cmd.Hidden {
		return nil
	}
	_, name, _ := strings.Cut(cmd.CommandPath(), " ")
	c := gen.Command{Name: name, Synopsis: cmd.UseLine(), Short: cmd.Short, Long: cmd.Long, Example: cmd.Example}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			c.Flags = append(c.Flags, flagOf(f))
		}
	})
	out := []gen.Command{c}
	for _, sub := range cmd.Commands() {
		out = append(out, commandsOf(sub)...)
	}
	return out
}

func flagOf(f *pflag.Flag) gen.Flag {
	value, doc := pflag.UnquoteUsage(f)
	out := gen.Flag{Name: f.Name, Letter: f.Shorthand, Value: value, Doc: doc}
	switch f.DefValue {
	case "", "[]", "false", "0", "0s":
	default:
		out.Default = f.DefValue
	}
	return out
}

func aqlProgram() gen.Program {
	p := gen.Program{
		Name: aqlName, Short: "Test MCP-AQL adapters for conformance",
		Long:      "Judges evidence about an MCP-AQL adapter: a bundle of what its operations say about themselves and do.",
		ExitCodes: aqlExitCodes,
	}
	for _, cmd := range aqlCommands() {
		c := gen.Command{Name: cmd.name, Synopsis: aqlName + " " + cmd.synopsis(), Short: cmd.summary, Long: cmd.about}
		for _, f := range cmd.flags {
			flag := gen.Flag{Name: f.long, Letter: f.short, Doc: f.summary}
			if f.check != nil { // it takes a value
				flag.Value, flag.Doc = strings.ToUpper(f.long), f.summary+"; "+f.value
			}
			c.Flags = append(c.Flags, flag)
		}
		p.Commands = append(p.Commands, c)
	}
	return p
}
