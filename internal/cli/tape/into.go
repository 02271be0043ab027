package tape

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"mcptest/internal/base/shellwords"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/clientconfig"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
)

// configure changes the configuration of a client.
func (f *recordFlags) configure(s cmdutil.Streams, name string) error {
	if name == "" {
		return option.Invalid("--into requires the NAME of a server in the configuration of the client")
	}
	places, err := f.listConfigFiles(s)
	if err != nil {
		return err
	}
	place, src, err := clientconfig.Find(places, name)
	if err != nil {
		return option.Invalid("--into: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	say := func(format string, args ...any) {
		fmt.Fprintln(s.Out, term.Escape(fmt.Sprintf(format, args...)))
	}
	if f.undo {
		kept, err := clientconfig.Undo(place, src, name)
		if err != nil {
			return option.Invalid("--undo: %v", err)
		}
		say("%s starts %s directly again: restart the client", place.Path, name)
		if len(kept) > 0 {
			say("  Backups with another content were kept and may contain credentials: %s.", strings.Join(kept, ", "))
		}
		return nil
	}
	if s.Self == "" {
		return option.Fail(option.ExitInternal, "--into: the path of this program is not known")
	}
	folder := strings.NewReplacer("/", "_", `\`, "_", ":", "_").Replace(name) + "-cassettes" // names such as io.github.user/server are usual
	out := cmp.Or(f.output, folder)
	if out, err = filepath.Abs(out); err != nil {
		return option.Fail(option.ExitInternal, "--output: %v", err)
	}
	if info, err := os.Stat(out); err == nil && !info.IsDir() {
		return option.Invalid("--output: %s must be a folder, because a client starts its servers again and again", out)
	}
	words := []string{s.Self, "record", "-q", "-o", out + string(filepath.Separator)}
	if f.allowInCI {
		words = append(words, "--allow-update-in-ci")
	}
	for _, path := range f.volatile {
		words = append(words, "--volatile", path)
	}
	wrapped, err := clientconfig.Wrap(src, place.Key, name, words)
	if errors.Is(err, clientconfig.ErrRecorded) {
		return option.Invalid("--into: %s starts %s through mcptest already; --undo reverts that", place.Path, name)
	}
	if err != nil {
		return option.Invalid("--into: %v", err)
	}
	backup, err := clientconfig.Save(place.Path, src, wrapped)
	if err != nil {
		return option.Fail(option.ExitInternal, "--into: %v", err)
	}
	say("%s starts %s through mcptest now (backup: %s).", place.Path, name, backup)
	say("  Restart the client. Cassettes are written to %s.", out)
	say("  mcptest record --into %s %s --undo starts it directly again.", f.into, shellwords.QuoteForShell(name))
	return nil
}

// listConfigFiles returns the configuration files of the client.
func (f *recordFlags) listConfigFiles(s cmdutil.Streams) ([]clientconfig.Place, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, option.Fail(option.ExitInternal, "find the current folder: %v", err)
	}
	home := cmdutil.LookupEnv(s.Env, "HOME")
	config := cmdutil.LookupEnv(s.Env, "XDG_CONFIG_HOME")
	if runtime.GOOS == "windows" {
		home, config = cmdutil.LookupEnv(s.Env, "USERPROFILE"), cmdutil.LookupEnv(s.Env, "APPDATA")
	}
	if home == "" {
		return nil, option.Invalid("--into: the environment variable HOME is not set, so the configuration cannot be found")
	}
	places, err := clientconfig.ListPlaces(f.into, clientconfig.System{OS: runtime.GOOS, Home: home, Config: config, Dir: dir})
	if err != nil {
		return nil, option.Invalid("--into: %v", err)
	}
	return places, nil
}
