package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/osfile"
	"mcptest/internal/base/source"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/offer/readme"
	"mcptest/internal/offer/surface"
)

// tableFlags are the flags of `mcptest tools` for the table in a Markdown file.
type tableFlags struct {
	format, check, write string
	allowInCI            bool
}

func (f *tableFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVarP(&f.format, "format", "f", "text", "text, json or md (a Markdown table)")
	fl.StringVar(&f.check, "check", "", "compare the table in this Markdown `file`; exit 6 if it is out of date")
	fl.StringVar(&f.write, "write", "", "update the table in this Markdown `file`")
	fl.BoolVar(&f.allowInCI, "allow-update-in-ci", false, "update the file although CI is set")
	cmd.MarkFlagsMutuallyExclusive("check", "write")
}

func (f *tableFlags) validate(t *option.TargetFlags, own []string) error {
	if err := option.OneOf("--format", []string{f.format}, []string{"text", "json", "md"}); err != nil {
		return err
	}
	t.JSON = t.JSON || f.format == "json"
	file := f.check + f.write
	switch {
	case file != "" && t.JSON:
		return option.Invalid("--check and --write require -f md, the format of the table in %s", file)
	case (file != "" || f.format == "md") && len(own) > 0:
		return option.Invalid("the Markdown table lists all tools: leave out %q", own[0])
	}
	return nil
}

// writeTable prints the table of the tools, compares it with the one in a file, or updates
// that.
func (f *tableFlags) writeTable(ctx context.Context, l *option.Viewer) error {
	tools, err := listAll(ctx, l, "tools/list", "tools")
	if err != nil {
		return err
	}
	live := newSurface(l, &surface.Offer{Lists: map[surface.Kind][]jsonv.Value{surface.Tool: tools}})
	table := readme.FormatTable(live)
	path := f.check + f.write
	if path == "" {
		_, err := io.WriteString(l.Streams.Out, table)
		return err
	}
	file, diags := source.Read(path, path)
	var block readme.Block
	if !diags.HasErrors() {
		block, diags = readme.Find(file, live.Server)
	}
	if n, _ := option.PrintDiagnostics(l.Streams, l.Flags.Color, diags); n > 0 {
		return option.Invalid("%s in %s", display.Count(n, "error"), path)
	}
	data := block.With(table)
	switch {
	case bytes.Equal(data, file.Data):
		fmt.Fprintf(l.Streams.Out, "%s is up to date: %s\n", display.Escape(path), live.Counts())
		return nil
	case f.check != "":
		fmt.Fprint(l.Streams.Out, block.Diff(table))
		return option.Fail(option.ExitGate, "the table of tools in %s is out of date: run mcptest tools with --write %s", path, path)
	}
	if err := option.AllowUpdate(l.Streams.Env, f.allowInCI, path+" is not updated", "mcptest tools with --write "+path); err != nil {
		return err
	}
	if err := replaceText(path, data); err != nil {
		return option.Fail(option.ExitInternal, "write %s: %s", path, cmdutil.Reason(err))
	}
	fmt.Fprintf(l.Streams.Out, "updated %s: %s\n", display.Escape(path), live.Counts())
	return nil
}

// replaceText replaces a file but keeps its permissions. It follows a symbolic link.
func replaceText(path string, data []byte) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	return osfile.Replace(real, data, info.Mode().Perm())
}
