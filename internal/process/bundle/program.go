package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mcptest/internal/base/source"
)

// A Program is a bundle that can be started.
type Program struct {
	Bundle  *Bundle
	Argv    []string
	Env     []string // NAME=value, in addition to what servers inherit
	Dir     string   // its working directory, unless the user chooses one
	Secrets []string // values of sensitive options
	Given   map[string]bool

	folder *Folder
}

// chooseFor returns the command on a system: an override replaces arguments and environment as a
// whole.
func (c Command) chooseFor(platform string) Command {
	o, ok := c.Overrides.Get(platform)
	if !ok || o == nil {
		return c
	}
	if o.Command != "" {
		c.Command = o.Command
	}
	if o.Args != nil {
		c.Args = *o.Args
	}
	if o.Env != nil {
		c.Env = *o.Env
	}
	return c
}

// Program returns what is started on a system, in a folder of folders.
func (b *Bundle) Program(c Config, sys System, folders *Folders) (*Program, source.Diagnostics) {
	folder := folders.newFolder(b)
	p := &Program{Bundle: b, Given: map[string]bool{}, folder: folder}
	s := b.newSettings(c, sys, folder.content())
	for key := range s.given {
		p.Given[key] = true
	}
	if d := b.Manifest.checkVersion(); d != nil {
		s.d.Add(*d)
	}
	command := b.Manifest.Server.Config.chooseFor(sys.Platform)
	if d := b.explainMissingStart(command, sys.Platform); d != nil {
		s.d.Add(*d)
	}
	p.Argv = append([]string{s.fillText(command.Command)}, s.fillArgs(command.Args)...)
	p.Env = s.fillEnv(command.Env)
	p.Secrets = s.listSecrets()
	p.Dir = folder.empty()
	if b.isRelative(command) {
		p.Dir = folder.content()
		p.Argv[0] = findProgram(b, folder.content(), p.Argv[0])
	}
	ds := s.d.Diagnostics()
	ds.Sort()
	return p, ds
}

// Prepare unpacks the bundle, unless it is there already.
func (p *Program) Prepare(owner Owner) error {
	f := p.folder
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := os.Stat(f.content()); err == nil {
		return nil
	}
	if err := f.create(owner); err != nil {
		return fmt.Errorf("make a folder for the bundle: %w", err)
	}
	removeStale(f.path)
	if err := p.Bundle.unpack(f.content()); err != nil {
		return fmt.Errorf("unpack %s: %w", p.Bundle.Name, err)
	}
	return nil
}

// findProgram returns a relative program of the bundle as a path; other programs are looked up.
func findProgram(b *Bundle, folder, program string) string {
	for _, name := range []string{program, program + ".exe"} {
		_, ok := b.Mode(filepath.ToSlash(name))
		if ok && strings.ContainsAny(program, `/\`) && (name == program || runtime.GOOS == "windows") {
			return filepath.Join(folder, filepath.FromSlash(name))
		}
	}
	return program
}

// isRelative reports whether the command names files of the bundle by relative paths. Such
// a server runs only if it is started in the bundle, which the manifest's documentation
// assumes in some of its examples.
func (b *Bundle) isRelative(c Command) bool {
	return slices.ContainsFunc(append([]string{c.Command}, c.Args...), func(word string) bool {
		_, ok := b.Mode(filepath.ToSlash(word))
		return ok && strings.ContainsAny(word, `/\.`)
	})
}

// findInside returns the name in the archive of a path that begins with the bundle's folder.
func findInside(word string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(word, "${__dirname}")
	if !ok {
		return "", false
	}
	for _, variable := range []string{"${/}", "${pathSeparator}", `\`} {
		rest = strings.ReplaceAll(rest, variable, "/")
	}
	rest = strings.TrimLeft(rest, "/")
	return rest, rest != "" && !strings.Contains(rest, "${")
}

// hasFile reports whether the archive has a file, as a system looks for programs.
func (b *Bundle) hasFile(name, platform string) bool {
	if _, ok := b.Mode(name); ok {
		return true
	}
	_, ok := b.Mode(name + ".exe")
	return ok && platform == "win32"
}

// findScript returns the index of the argument that is the script of an interpreter, or -1.
func findScript(c Command) int {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(filepath.ToSlash(c.Command))), ".exe")
	if name != "node" && !strings.HasPrefix(name, "python") && name != "bun" && name != "deno" {
		return -1
	}
	for i, arg := range c.Args {
		switch {
		case arg == "-m" || arg == "-c" || arg == "-e" || arg == "--eval" || arg == "-p":
			return -1
		case slices.Contains([]string{"-r", "--require", "--import", "--loader", "-W", "-X"}, arg):
			return -1 // the next one is a value
		case !strings.HasPrefix(arg, "-") && arg != "run":
			return i
		}
	}
	return -1
}

// explainMissingStart reports a program or script of the command that the archive does not have.
func (b *Bundle) explainMissingStart(c Command, platform string) *source.Diagnostic {
	at := findScript(c)
	words := []string{c.Command}
	if at >= 0 {
		words = append(words, c.Args[at])
	}
	for i, word := range words {
		name, ok := findInside(word)
		if !ok || b.hasFile(name, platform) {
			continue
		}
		n, path := b.Manifest.findCommandNode(platform, -1)
		if i == 1 {
			n, path = b.Manifest.findCommandNode(platform, at)
		}
		d := source.Errorf(n.Pos, path, "%s is not in the bundle", quoteName(name))
		d.Hint = b.findNearFile(name)
		return &d
	}
	return nil
}

// findNearFile suggests a file of the bundle.
func (b *Bundle) findNearFile(name string) string {
	var names []string
	for file := range b.files {
		if !strings.Contains(file, "node_modules/") {
			names = append(names, file)
		}
	}
	slices.Sort(names)
	if near := source.DidYouMean(name, names); near != "" {
		return near
	}
	for _, file := range names {
		if filepath.Base(file) == filepath.Base(name) {
			return "it has " + file
		}
	}
	return "build the server before it is packed, and look at .mcpbignore"
}

// findCommandNode returns the node of the program, or of an argument, on a system, and its path.
func (m *Manifest) findCommandNode(platform string, arg int) (*source.Node, string) {
	for _, over := range [][]string{{"platform_overrides", platform}, nil} {
		keys := append([]string{"server", "mcp_config"}, over...)
		path := strings.Join(keys, ".")
		if arg < 0 {
			if n := m.find(append(keys, "command")...); n != nil {
				return n, path + ".command"
			}
			continue
		}
		if n := m.find(append(keys, "args")...); n != nil && arg < len(n.Items) {
			return n.Items[arg], source.PathIndex(path+".args", arg)
		}
	}
	return m.node, ""
}
