package skill

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
)

//go:embed SKILL.md
var guide []byte

// NewCmd returns the command skill.
func NewCmd(s cmdutil.Streams) *cobra.Command {
	var install, force bool
	var output string
	cmd := &cobra.Command{
		Use:   "skill",
		Short: "Print or install a guide for coding agents",
		Long: `Print a short guide with which a coding agent can write, run and repair suites, in
the format of agent skills (SKILL.md). Except for this program it needs nothing else.

--install writes it below the folders .claude and .agents of the current folder, if they
exist, and otherwise below a new folder .agents, as skills/mcptest/SKILL.md. An existing
file with other contents is replaced only with --force.`,
		Example: "  mcptest skill\n  mcptest skill --install\n  mcptest skill --output docs/mcptest.md",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if install {
				return write(s, places(), force)
			}
			return write(s, []string{output}, force)
		},
	}
	cmd.Flags().BoolVar(&install, "install", false, "write it where coding agents look for skills")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite an existing file")
	cmd.Flags().StringVarP(&output, "output", "o", "-", "`file` to write; - is standard output")
	cmd.MarkFlagsMutuallyExclusive("install", "output")
	return cmd
}

// places returns where the coding agents of this folder look for the guide.
func places() (paths []string) {
	for _, dir := range []string{".claude", ".agents"} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || dir == ".agents" && paths == nil {
			paths = append(paths, filepath.ToSlash(filepath.Join(dir, "skills", "mcptest", "SKILL.md")))
		}
	}
	return paths
}

// write writes the guide to all files, or to none if one of them must not be replaced.
func write(s cmdutil.Streams, paths []string, force bool) error {
	for _, path := range paths {
		if text, _ := os.ReadFile(path); !bytes.Equal(text, guide) {
			if err := option.Free(path, force); err != nil {
				return err
			}
		}
	}
	for _, path := range paths {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return option.Invalid("%v", err)
		}
		if err := option.WriteFile(path, s.Out, guide); err != nil {
			return err
		}
		if path != "-" {
			fmt.Fprintln(s.Err, "mcptest: wrote "+path)
		}
	}
	return nil
}
