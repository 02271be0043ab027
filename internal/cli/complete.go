package cli

import (
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"mcptest/internal/base/lists"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/client/identity"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/report"
	"mcptest/internal/server/manifest"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// completeFlags completes the flags of all commands whose values are words of a list
// or names in a suite.
func completeFlags(s cmdutil.Streams, root *cobra.Command) {
	reporters := lists.Map(report.Formats, func(f report.Format) string { return f.Name })
	words := map[string][]string{
		"client":    identity.Names(),
		"protocol":  append([]string{mcp.Auto}, protocol.Versions()...),
		"transport": {wire.HTTPAuto, wire.StreamableHTTP, wire.HTTPSSE},
		"color":     {"auto", "always", "never"},
		"preset":    manifest.Presets(),
		"fault":     {"none", "hang", "wedged", "slow:", "recover-after:"},
		"log-level": {"error", "warn", "info", "debug"},
		"parallel":  {"auto"},
		"fail-on":   {"slower", "scores"},
	}
	for _, cmd := range root.Commands() {
		completeFlags(s, cmd)
		completeSuite(s, cmd)
		for name, list := range words {
			if cmd.Flags().Lookup(name) != nil {
				_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp))
			}
		}
		if cmd.Flags().Lookup("reporter") != nil {
			_ = cmd.RegisterFlagCompletionFunc("reporter", func(_ *cobra.Command, _ []string, given string) ([]string, cobra.ShellCompDirective) {
				if strings.Contains(given, "=") {
					return nil, cobra.ShellCompDirectiveDefault // the path after it
				}
				return reporters, cobra.ShellCompDirectiveNoFileComp
			})
		}
	}
}

// completion is the type of cobra's completion functions.
type completion = func(cmd *cobra.Command, args []string, given string) ([]string, cobra.ShellCompDirective)

// completeFiles completes the names of folders and of files with certain endings.
func completeFiles(endings ...string) completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

// completeSuite completes the arguments and flags of a command that reads suites or
// records: files, and names in the suites of the command line.
func completeSuite(s cmdutil.Streams, cmd *cobra.Command) {
	suites, records := completeFiles("yaml", "yml"), completeFiles("json", "ndjson")
	flag := func(name string, c completion) {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, c)
		}
	}
	servers := completeNames(s, listServers)
	switch cmd.Name() {
	case "run", "validate":
		cmd.ValidArgsFunction = suites
	case "report", "merge", "compare":
		cmd.ValidArgsFunction = records
	case "login", "logout":
		cmd.ValidArgsFunction = servers
	}
	flag("config", suites)
	flag("baseline", records)
	flag("server", servers)
	flag("tag", completeNames(s, listTags))
	flag("skip-tag", completeNames(s, listTags))
	flag("filter", completeFilters(s))
}

// names collects names in suites.
type names = func(s cmdutil.Streams, f *option.SuiteFlags, suites []*suite.Suite) map[string]bool

// completeNames completes names in suites, also after a comma.
func completeNames(s cmdutil.Streams, of names) completion {
	return func(cmd *cobra.Command, args []string, given string) (out []string, _ cobra.ShellCompDirective) {
		head := given[:strings.LastIndexByte(given, ',')+1]
		for _, name := range readNames(s, cmd, args, of) {
			if !slices.Contains(strings.Split(head, ","), name) {
				out = append(out, head+name)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFilters completes the names of tests, also after the ! of a filter.
func completeFilters(s cmdutil.Streams) completion {
	return func(cmd *cobra.Command, args []string, given string) (out []string, _ cobra.ShellCompDirective) {
		head := ""
		if strings.HasPrefix(given, "!") {
			head = "!"
		}
		for _, name := range readNames(s, cmd, args, testNames) {
			if strings.ContainsFunc(name, unicode.IsControl) {
				continue // the shell reads lines and tabs
			}
			if strings.HasPrefix(name, "!") || strings.HasPrefix(name, "re:") {
				name = "re:^" + regexp.QuoteMeta(name) + "$"
			}
			out = append(out, head+name)
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// readNames returns names in the suites of a command line, sorted. It ignores mistakes in a
// suite and returns the names that can be read.
func readNames(s cmdutil.Streams, cmd *cobra.Command, args []string, of names) []string {
	var f option.SuiteFlags
	fl := cmd.Flags()
	f.Configs, _ = fl.GetStringArray("config")
	f.EnvFiles, _ = fl.GetStringArray("env-file")
	f.Vars, _ = fl.GetStringArray("var")
	f.AllowOutside, _ = fl.GetBool("allow-outside")
	if cmd.Name() != "run" {
		args = nil // they are not suites
	}
	args, _ = splitPlaces(args)
	paths, err := f.Paths(args)
	if err != nil {
		return nil
	}
	f.Static = true
	suites, _, err := f.Load(paths, cmdutil.Streams{Env: s.Env, Err: io.Discard})
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(of(s, &f, suites)))
}

func listServers(_ cmdutil.Streams, _ *option.SuiteFlags, suites []*suite.Suite) map[string]bool {
	names := map[string]bool{}
	for _, su := range suites {
		for _, sv := range su.Servers {
			names[sv.Name] = true
		}
	}
	return names
}

// testsLooked limits the number of tests that are read, because the shell waits.
const testsLooked = 2000

func testNames(s cmdutil.Streams, f *option.SuiteFlags, suites []*suite.Suite) map[string]bool {
	names := map[string]bool{}
	p, _ := plan.Compile(suites, f.Settings(s))
	for i := range min(p.Len(), testsLooked) {
		names[p.Case(i).Name] = true
	}
	return names
}

func listTags(s cmdutil.Streams, f *option.SuiteFlags, suites []*suite.Suite) map[string]bool {
	names := map[string]bool{}
	p, _ := plan.Compile(suites, f.Settings(s))
	for i := range min(p.Len(), testsLooked) {
		for _, tag := range p.Case(i).Tags {
			names[tag] = true
		}
	}
	return names
}
