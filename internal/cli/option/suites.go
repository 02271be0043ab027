package option

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/assert/snapshot"
	"mcptest/internal/base/filekind"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/base/source"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/client/protocol"
	"mcptest/internal/process/bundle"
	"mcptest/internal/server/recording"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
	"mcptest/internal/spec/suite/variants"
)

// SuiteFlags select the suites to read and how to read them; run and validate share
// them.
type SuiteFlags struct {
	Configs      []string
	EnvFiles     []string
	Vars         []string
	AllowOutside bool
	Color        string
	Client       string // a known client, in place of client: of each server; see AddClient

	Secrets []string         // of the loaded suites
	Folder  func(dir string) // called with each folder before it is searched for suites; may be nil
	Random  recording.Random // the values of ${random.KEY} in them
	Static  bool             // start no program while suites are read
	// Texts are read in place of the files at these absolute paths.
	Texts map[string][]byte
	// Programs runs what prints the variants of servers, once for each command line. Load
	// sets it.
	Programs variants.Programs
	folders  *bundle.Folders // of bundles; see bundles
	order    map[string]int  // files that were read, in the order of the command line
}

// Add defines the flags.
func (f *SuiteFlags) Add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.Configs, "config", "c", nil, "suite `file` (same as passing it as an argument)")
	fl.StringArrayVar(&f.EnvFiles, "env-file", nil, "read variables from this `file` instead of .env")
	fl.StringArrayVar(&f.Vars, "var", nil, "set a variable: `name=value`")
	fl.BoolVar(&f.AllowOutside, "allow-outside", false, "allow imports, cases and schemas outside the suite's directory")
	fl.StringVar(&f.Color, "color", "auto", "colors: auto, always or never")
}

// DefaultSuites are the default file names of suites.
var DefaultSuites = []string{"mcptest.yaml", "mcptest.yml"}

// Paths resolves arguments to suite files.
func (f *SuiteFlags) Paths(args []string) ([]string, error) {
	args = append(slices.Clone(f.Configs), args...)
	if len(args) == 0 {
		for _, name := range DefaultSuites {
			if _, err := os.Stat(name); err == nil {
				return []string{name}, nil
			}
		}
		return nil, Invalid("no suite found: looked for %s here; pass a file or directory", strings.Join(DefaultSuites, " and "))
	}
	var out []string
	for _, arg := range args {
		found, err := f.findSuitesAt(arg, args)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// findSuitesAt returns the suites that one of the arguments names: a file, or those below a folder.
func (f *SuiteFlags) findSuitesAt(arg string, args []string) ([]string, error) {
	program := cmdutil.FindStarter(arg)
	info, err := os.Stat(arg)
	switch {
	case err != nil:
		return nil, explainMissing(arg, args)
	case testFile().MatchString(filepath.Base(arg)):
		return nil, Invalid("%s is a test of another test runner; suites are YAML: mcptest init -- COMMAND writes one for a server", arg)
	case program != "":
		return nil, Invalid("%s is a program, not a suite; to write one for it: mcptest init -- %s %s", arg, program, arg)
	case !info.IsDir():
		return []string{arg}, nil
	}
	found, err := f.findSuitesBelow(arg)
	if err != nil {
		return nil, Invalid("read folder %s: %v", arg, err)
	}
	if len(found) == 0 {
		return nil, Invalid("no suite below %s: looked for mcptest.yaml, mcptest.yml, *.mcptest.yaml and *.mcptest.yml", arg)
	}
	return found, nil
}

// looksLikeName reports whether an argument is a word rather than the path of a file.
func looksLikeName(arg string) bool { return !strings.ContainsAny(arg, `./\*`) }

// explainMissing returns the error about an argument that is no file, with what it was likely
// meant to be.
func explainMissing(arg string, args []string) error {
	if file, test, ok := strings.Cut(arg, "::"); ok { // as in pytest
		suggestion := source.Suggest(file + " --filter " + shellwords.QuoteForShell(test))
		return Invalid("no such file or directory: %s%s", arg, source.Parenthesis(suggestion))
	}
	if found, _ := filepath.Glob(arg); len(found) > 0 {
		return Invalid("no such file or directory: %s; the shell replaces a pattern only outside of quotes: mcptest run %s", arg, filepath.ToSlash(strings.Join(found, " ")))
	}
	near := source.FindNearFile(arg)
	if _, err := exec.LookPath(arg); err == nil && (near == "" || len(args) > 1) {
		return Invalid("%s is a program, not a suite; to write one for it: mcptest init -- %s", arg, strings.Join(args, " "))
	}
	if near != "" {
		return Invalid("no such file or directory: %s%s", arg, source.Parenthesis(source.Suggest(near)))
	}
	if looksLikeName(arg) {
		word, suites := shellwords.QuoteForShell(arg), strings.TrimPrefix(describeSuitesNear("."), "; ")
		return Invalid("no such file or directory: %s; a part of a test's name is --filter %s, a tag --tag %s%s",
			arg, word, word, source.Parenthesis(suites))
	}
	abs, _ := filepath.Abs(arg)
	return Invalid("no such file or directory: %s (looked for %s%s)", arg, abs, describeSuitesNear(filepath.Dir(arg)))
}

// suitesShown limits how many suites a message names.
const suitesShown = 5

// describeSuitesNear names the YAML files of a folder, to choose from.
func describeSuitesNear(dir string) string {
	found, _ := filepath.Glob(filepath.Join(dir, "*.y*ml"))
	found = slices.DeleteFunc(found, func(name string) bool { return strings.Contains(name, ".lock.") })
	switch {
	case len(found) == 0:
		return ""
	case len(found) > suitesShown:
		found = append(found[:suitesShown], "…")
	}
	return "; there is " + filepath.ToSlash(strings.Join(found, ", "))
}

// testFile matches the names of files with tests of Vitest, Jest, Playwright, pytest and go test.
var testFile = lazy.Regexp(`(\.(test|spec)\.[cm]?[jt]sx?|^test_.*\.py|_test\.(py|go))$`)

// findSuitesBelow returns the suites in a folder, sorted by path.
func (f *SuiteFlags) findSuitesBelow(dir string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != dir && (name == "node_modules" || strings.HasPrefix(name, ".")) {
				return filepath.SkipDir
			}
			if f.Folder != nil {
				f.Folder(path)
			}
			return nil
		}
		if slices.Contains(DefaultSuites, name) || strings.HasSuffix(name, ".mcptest.yaml") || strings.HasSuffix(name, ".mcptest.yml") {
			out = append(out, path)
		}
		return nil
	})
	return out, err
}

// Load reads the suites; the diagnostics contain every mistake in all of them.
func (f *SuiteFlags) Load(paths []string, s cmdutil.Streams) ([]*suite.Suite, source.Diagnostics, error) {
	vars := map[string]string{}
	for _, kv := range f.Vars {
		k, v, ok := strings.Cut(kv, "=")
		if !ok || k == "" {
			return nil, nil, Invalid("--var %s: expected name=value", kv)
		}
		vars[k] = v
	}
	var suites []*suite.Suite
	var diags source.Diagnostics
	seen := map[string]bool{}
	if f.Programs == nil && !f.Static {
		f.Programs = newProgramOutputs(s)
	}
	for _, path := range paths {
		abs, err := filepath.Abs(path)
		if err == nil && seen[abs] {
			continue
		}
		seen[abs] = true
		f.note(abs)
		// What to rename in the configuration of a client is said where it is read.
		if err := RefuseOther("", path, filekind.Suite, filekind.ClientConfig); err != nil {
			return nil, nil, err
		}
		one, ds := suite.Load(path, suite.Options{
			Env:          s.Env,
			EnvFiles:     f.EnvFiles,
			Vars:         vars,
			Random:       &f.Random,
			AllowOutside: f.AllowOutside,
			Programs:     f.Programs,
			Texts:        f.Texts,
		})
		diags = append(diags, ds...)
		if one != nil {
			suites = append(suites, one)
			f.Secrets = append(f.Secrets, one.Secrets...)
			f.note(one.Files...)
			if f.Static && len(one.Unknown) > 0 {
				fmt.Fprintf(s.Err, "%s: the variants of %s come from a program: not known without running it\n", path, strings.Join(one.Unknown, ", "))
			}
		}
	}
	return suites, append(diags, findUnusedVars(suites)...), nil
}

// AddSecrets takes over the secrets of suites that were compiled: also those in files of rows,
// which the compiler reads.
func (f *SuiteFlags) AddSecrets(suites []*suite.Suite) {
	for _, su := range suites {
		f.Secrets = append(f.Secrets, su.Secrets...)
	}
}

// note records the order in which files are reported.
func (f *SuiteFlags) note(paths ...string) {
	if f.order == nil {
		f.order = map[string]int{}
	}
	for _, p := range paths {
		if _, known := f.order[p]; !known {
			f.order[p] = len(f.order)
		}
	}
}

// Print prints diagnostics with secrets masked, in the order of the suites on the
// command line.
func (f *SuiteFlags) Print(s cmdutil.Streams, diags source.Diagnostics) (errors, warnings int) {
	rank := func(d source.Diagnostic) int {
		if d.Pos.File == nil {
			return -1
		}
		if n, known := f.order[d.Pos.File.Path]; known {
			return n
		}
		return len(f.order) // rows, .env
	}
	slices.SortStableFunc(diags, func(a, b source.Diagnostic) int { return cmp.Compare(rank(a), rank(b)) })
	return PrintDiagnostics(s, f.Color, diags, f.Secrets...)
}

// findUnusedVars warns about names of --var that no suite uses, because a misspelled one
// would have no effect.
func findUnusedVars(suites []*suite.Suite) source.Diagnostics {
	var diags source.Diagnostics
	if len(suites) == 0 {
		return nil
	}
	for _, name := range suites[0].UnusedVars {
		var known []string
		used := false
		for _, s := range suites {
			used = used || s.Partial || !slices.Contains(s.UnusedVars, name)
			known = append(known, s.VarNames...)
		}
		if used {
			continue
		}
		diags = append(diags, source.Diagnostic{
			Path: "--var", Severity: source.Warning, Code: "unused-var",
			Msg: fmt.Sprintf("no suite declares or uses a variable called %q", name), Hint: source.DidYouMean(name, known),
		})
	}
	return diags
}

// SystemOf returns where bundles are started.
func SystemOf(env []string) bundle.System {
	home := "HOME"
	if runtime.GOOS == "windows" {
		home = "USERPROFILE"
	}
	return bundle.System{Platform: bundle.Platform(runtime.GOOS), Home: cmdutil.LookupEnv(env, home)}
}

// openBundles returns the folders of bundles, which are the same whenever a suite is read.
func (f *SuiteFlags) openBundles() *bundle.Folders {
	if f.folders == nil {
		f.folders = new(bundle.Folders)
	}
	return f.folders
}

// Settings returns the plan's settings that both commands share.
func (f *SuiteFlags) Settings(s cmdutil.Streams) plan.Settings {
	set := plan.Settings{Env: s.Env, AllowOutside: f.AllowOutside, CI: cmdutil.IsInCI(s.Env), Self: s.Self}
	set.Bundles, set.System = f.openBundles(), SystemOf(s.Env)
	if c, ok := plan.FindClient(f.Client); ok { // an unknown one was reported
		set.Client = &c
	}
	for _, k := range protocol.ViolationKinds {
		set.ViolationKinds = append(set.ViolationKinds, k.Name)
	}
	set.ViolationKinds = append(set.ViolationKinds, "output-schema", "late-upstream-request")
	return set
}

// Compile loads and compiles suites of which no test is run, and declares their secrets.
func (f *SuiteFlags) Compile(paths []string, s cmdutil.Streams, redactor *secret.Redactor) (*plan.Plan, source.Diagnostics, error) {
	suites, diags, err := f.Load(paths, s)
	if err != nil {
		return nil, nil, err
	}
	set := f.Settings(s)
	set.CI, set.Names = false, map[string]bool{} // which selects no test
	p, more := plan.Compile(suites, set)
	f.AddSecrets(suites)
	redactor.Add(f.Secrets...)
	return p, append(diags, more...), nil
}

// PrintDiagnostics prints diagnostics to the error stream, with secrets masked, and
// returns their number by severity.
func PrintDiagnostics(s cmdutil.Streams, color string, diags source.Diagnostics, secrets ...string) (errors, warnings int) {
	if len(diags) == 0 {
		return 0, 0
	}
	diags.Sort()
	profile, err := term.Detect(s.Err, s.Env, color)
	style := source.Style{}
	if err == nil && profile != term.None {
		p := term.NewPalette(profile)
		paint := func(st term.Style) func(string) string { return func(t string) string { return p.Paint(st, t) } }
		style = source.Style{
			Error:   paint(term.Bad),
			Warning: paint(term.Warn),
			Caret:   paint(term.Bad),
			Hint:    paint(term.Accent),
		}
	}
	redactor := secret.NewRedactor()
	redactor.Add(secrets...)
	var text bytes.Buffer
	diags.Print(&text, style)
	_, _ = s.Err.Write(redactor.Bytes(text.Bytes()))
	for _, d := range diags {
		if d.Severity == source.Error {
			errors++
		} else {
			warnings++
		}
	}
	return errors, warnings
}

// AllowUpdate returns an error if a file that belongs in version control must not be
// written because CI is set: what describes the skipped action, command performs it
// elsewhere.
func AllowUpdate(env []string, allowInCI bool, what, command string) error {
	if allowInCI || !cmdutil.IsInCI(env) {
		return nil
	}
	return Fail(ExitPolicy, "%s because CI is set: run %s on your machine and commit the file, or pass --allow-update-in-ci", what, command)
}

// Snapshots returns how a run handles values without a stored snapshot. Damaged values
// are never stored.
func Snapshots(env []string, update, damaged bool) snapshot.Mode {
	switch {
	case update && !damaged:
		return snapshot.Update
	case damaged || cmdutil.IsInCI(env):
		return snapshot.Check
	}
	return snapshot.Add
}
