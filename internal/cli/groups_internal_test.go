package cli

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
)

// Each command is in a group, and each command of a group exists.
func TestCommandsAreInGroups(t *testing.T) {
	t.Parallel()
	root := newRoot(cmdutil.Streams{Args: []string{"help"}})
	root.InitDefaultHelpCmd()
	known := map[string]bool{}
	for _, cmd := range root.Commands() {
		known[cmd.Name()] = true
		if cmd.GroupID == "" {
			t.Errorf("the command %s is in no group", cmd.Name())
		}
	}
	for _, g := range groups {
		for _, name := range g.commands {
			if !known[name] {
				t.Errorf("the group %s has no command %s", g.id, name)
			}
		}
	}
}

// Each flag of run is in one section, and the help shows each once.
func TestFlagsOfRunAreInSections(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if code := Main([]string{"run", "--help"}, cmdutil.Streams{Out: &out, Err: &out}); code != 0 {
		t.Fatal(out.String())
	}
	cmd := newRunCmd(cmdutil.Streams{})
	if unknown := option.AddSections(cmd, runSections); len(unknown) > 0 {
		t.Errorf("no such flags: %v", unknown)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Annotations == nil && !f.Hidden {
			t.Errorf("--%s is in no section", f.Name)
		}
		if n := len(regexp.MustCompile(`(?m)^ +(-., )?--`+regexp.QuoteMeta(f.Name)+`\b[^-]`).FindAllString(out.String(), -1)); n != 1 {
			t.Errorf("--%s is shown %d times", f.Name, n)
		}
	})
	if at := strings.Index(out.String(), runSections[0].Title); at < 0 || at > strings.Index(out.String(), "Limits on what") {
		t.Error("the first section is not the first")
	}
}
