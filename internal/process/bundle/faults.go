package bundle

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/source"
)

// A Kind is what is wrong with a bundle. Package compat has a rule for each.
type Kind string

// The kinds of faults.
const (
	FaultVersion    Kind = "version"    // of the manifest
	FaultKeys       Kind = "keys"       // required ones are missing
	FaultUnknown    Kind = "unknown"    // keys that no version has
	FaultEntry      Kind = "entry"      // a file that the start needs is not there
	FaultOutside    Kind = "outside"    // the start needs what is not in the bundle
	FaultRelative   Kind = "relative"   // a path that depends on the working directory
	FaultUnset      Kind = "unset"      // an option that arrives as it is written, or empty
	FaultList       Kind = "list"       // a list inside of a text
	FaultOption     Kind = "option"     // an option that is not declared
	FaultVariable   Kind = "variable"   // a variable that nothing replaces
	FaultPlatform   Kind = "platform"   // an override that never applies
	FaultExecutable Kind = "executable" // a program without permission to run
	FaultDefault    Kind = "default"    // of another type
	FaultSensitive  Kind = "sensitive"  // a secret that is stored and shown as any text
)

// A Fault is something in a manifest that keeps the bundle from being accepted, or from
// starting, in some client or on some system.
type Fault struct {
	Kind    Kind
	Pointer string // into the manifest
	Line    int
	Text    string
}

// platforms are the names of systems in manifests.
var platforms = []string{"darwin", "linux", "win32"}

// examiner collects the faults of a bundle.
type examiner struct {
	b     *Bundle
	m     *Manifest
	given map[string]bool // options that the user sets
	out   []found
}

// found is a fault, and the system that it is on; "" if it is on all.
type found struct {
	Fault
	on string
}

// Faults examines a bundle. given are the options that the user sets.
func (b *Bundle) Faults(given map[string]bool) []Fault {
	e := &examiner{b: b, m: b.Manifest, given: given}
	e.checkKeys()
	e.checkOptions()
	e.checkEntryPoint()
	e.checkOverrides()
	for _, platform := range e.listDeclared() {
		c := commandOn{e.m.Server.Config.chooseFor(platform), platform}
		e.checkCommand(c)
		e.uses(c)
	}
	return e.mergeFaults()
}

// add adds a fault at a path of keys.
func (e *examiner) add(kind Kind, keys []string, format string, args ...any) {
	pointer, n := "", e.m.node
	for _, key := range keys {
		pointer = jsonv.AppendPointer(pointer, key)
		n = findChild(n, key)
	}
	for n == nil { // what is missing is missed where it belongs
		keys = keys[:len(keys)-1]
		n = e.m.node
		for _, key := range keys {
			n = findChild(n, key)
		}
	}
	e.out = append(e.out, found{Fault: Fault{kind, pointer, n.Pos.Line, fmt.Sprintf(format, args...)}})
}

// addOn adds a fault on one system.
func (e *examiner) addOn(platform string, kind Kind, keys []string, format string, args ...any) {
	e.add(kind, keys, format, args...)
	e.out[len(e.out)-1].on = platform
}

// Line returns the line of a place in the manifest; 0 if it is not there.
func (b *Bundle) Line(pointer string) int {
	n := b.Manifest.node
	for key := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		n = findChild(n, key)
	}
	if n == nil {
		return 0
	}
	return n.Pos.Line
}

// findChild returns a member or an element of a node.
func findChild(n *source.Node, key string) *source.Node {
	if n == nil || n.Kind != source.KindList {
		return n.Get(key)
	}
	for i, item := range n.Items {
		if fmt.Sprint(i) == key {
			return item
		}
	}
	return nil
}

// listDeclared returns the systems that the bundle is for: all if it does not say.
func (e *examiner) listDeclared() []string {
	known := func(name string) bool { return slices.Contains(platforms, name) }
	var out []string
	for _, name := range e.m.Compatibility.Platforms {
		if known(name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return platforms
	}
	return out
}

// mergeFaults returns each fault once, with the systems that it is about.
func (e *examiner) mergeFaults() (out []Fault) {
	on := map[Fault][]string{}
	for _, f := range e.out {
		if _, known := on[f.Fault]; !known {
			out = append(out, f.Fault)
		}
		on[f.Fault] = append(on[f.Fault], f.on)
	}
	for i, f := range out {
		if on[f][0] != "" {
			out[i].Text += ", on " + strings.Join(on[f], ", ")
		}
	}
	return out
}

// newer are keys that the first version does not have.
var newer = []struct{ key, since string }{
	{"privacy_policies", "0.2"}, {"icons", "0.3"}, {"localization", "0.3"}, {"_meta", "0.3"},
}

// checkKeys finds missing keys, unknown ones, and a version that is not known.
func (e *examiner) checkKeys() {
	if d := e.m.checkVersion(); d != nil {
		e.add(FaultVersion, []string{"manifest_version"}, "%s", d.Msg)
	} else if e.m.ManifestVersion == "" {
		e.add(FaultVersion, []string{"dxt_version"}, "dxt_version is the old name of manifest_version")
	}
	if e.m.Server.Type == "uv" && slices.Contains(versions[:3], e.m.FormatVersion()) {
		const late = "the server type uv needs manifest_version 0.4, not %s"
		e.add(FaultVersion, []string{"server", "type"}, late, e.m.FormatVersion())
	}
	for _, c := range newer {
		if e.m.find(c.key) != nil && slices.Contains(versions, e.m.FormatVersion()) && e.m.FormatVersion() < c.since {
			const late = "%s needs manifest_version %s, not %s"
			e.add(FaultVersion, []string{c.key}, late, c.key, c.since, e.m.FormatVersion())
		}
	}
	for _, keys := range [][]string{{"name"}, {"version"}, {"description"}, {"author"}, {"author", "name"}} {
		if e.m.find(keys...) == nil && (len(keys) == 1 || e.m.find("author") != nil) {
			e.add(FaultKeys, keys, "the key %s is missing", strings.Join(keys, "."))
		}
	}
	for _, o := range e.m.Options.Entries {
		for _, key := range []string{"title", "description"} {
			if e.m.find("user_config", o.Key, key) == nil {
				e.add(FaultKeys, []string{"user_config", o.Key, key}, "the option %q has no %s", o.Key, key)
			}
		}
	}
	for _, p := range e.m.unknown {
		e.out = append(e.out, found{Fault: Fault{FaultUnknown, p.pointer, p.pos.Line, display.Escape(p.text)}})
	}
}

// checkOptions finds defaults of another type, and secrets that are not declared as such.
func (e *examiner) checkOptions() {
	s := e.b.newSettings(Config{}, System{Platform: "linux"}, "")
	for _, d := range s.d.Diagnostics() {
		name, isDefault := strings.CutSuffix(strings.TrimPrefix(d.Path, "user_config."), ".default")
		if isDefault {
			keys := []string{"user_config", name, "default"}
			e.add(FaultDefault, keys, "of %q: %s", name, d.Msg)
		}
	}
	for _, o := range e.m.Options.Entries {
		if o.Value.Type == "string" && !o.Value.Sensitive && secret.Name(o.Key) {
			const open = "the option %q is not sensitive"
			e.add(FaultSensitive, []string{"user_config", o.Key}, open, o.Key)
		}
	}
}

// checkEntryPoint finds an entry point that is not in the archive.
func (e *examiner) checkEntryPoint() {
	name := e.m.Server.Entry
	if within, ok := findInside(name); ok {
		name = within
	}
	name = cleanName(name)
	if e.b.hasFile(name, "win32") || e.b.hasFolder(name) {
		return
	}
	e.add(FaultEntry, []string{"server", "entry_point"}, "%s, the entry point", quoteName(name))
}

// hasFolder reports whether the archive has files below a folder.
func (b *Bundle) hasFolder(name string) bool {
	for file := range b.files {
		if strings.HasPrefix(file, name+"/") {
			return true
		}
	}
	return false
}

// checkOverrides finds overrides of systems that the bundle is not for.
func (e *examiner) checkOverrides() {
	for i, name := range e.m.Compatibility.Platforms {
		if !slices.Contains(platforms, name) {
			e.add(FaultPlatform, []string{"compatibility", "platforms", fmt.Sprint(i)},
				"%q is not a system of manifests: they are called darwin, linux and win32", name)
		}
	}
	for _, o := range e.m.Server.Config.Overrides.Entries {
		keys := []string{"server", "mcp_config", "platform_overrides", o.Key}
		switch {
		case !slices.Contains(platforms, o.Key):
			const names = "the override of %q never applies: systems are called darwin, linux and win32"
			e.add(FaultPlatform, keys, names, o.Key)
		case !slices.Contains(e.listDeclared(), o.Key):
			const missing = "the override of %s never applies: compatibility.platforms does not have it"
			e.add(FaultPlatform, keys, missing, o.Key)
		}
	}
}

// commandOn is the command on one system.
type commandOn struct {
	Command
	platform string
}

// keys returns the path of a part of the command: that of the override if it has the part.
func (e *examiner) keysOf(c commandOn, part ...string) []string {
	over := []string{"server", "mcp_config", "platform_overrides", c.platform}
	if e.m.find(append(slices.Clone(over), part[0])...) != nil {
		return append(over, part...)
	}
	return append([]string{"server", "mcp_config"}, part...)
}

// checkCommand examines the program and its script.
func (e *examiner) checkCommand(c commandOn) {
	e.startFile(c, c.Command.Command, "command")
	if at := findScript(c.Command); at >= 0 {
		e.startFile(c, c.Args[at], "args", fmt.Sprint(at))
	}
	e.checkProgram(c)
}

// startFile examines a file that the start needs.
func (e *examiner) startFile(c commandOn, word string, part ...string) {
	keys := e.keysOf(c, part...)
	name, ok := findInside(word)
	relative := cleanName(strings.ReplaceAll(word, `\`, "/"))
	isPath := strings.ContainsAny(word, `/\`) || part[0] == "args"
	switch {
	case strings.Contains(word, "${__dirname}") && slices.Contains(strings.FieldsFunc(word, isSlash), ".."):
		e.add(FaultOutside, keys, "%s leaves the bundle", quoteName(word))
	case ok && !e.b.hasFile(name, c.platform):
		e.addOn(c.platform, FaultEntry, keys, "%s", quoteName(name))
	case ok && part[0] == "command":
		e.checkExecutable(c, name, keys)
	case strings.HasPrefix(word, "${HOME}") || strings.HasPrefix(word, "~"):
		e.add(FaultOutside, keys, "%s is in the home folder of one machine", quoteName(word))
	case isAbsolute(word) && !slices.Contains([]string{"/usr/bin/env", "/bin/sh", "/bin/bash"}, word):
		e.add(FaultOutside, keys, "%s is a path of one machine", quoteName(word))
	case strings.Contains(word, "${") || isAbsolute(word) || !isPath:
	case e.b.hasFile(relative, c.platform):
		e.add(FaultRelative, keys, "%s is relative", quoteName(word))
	default:
		e.addOn(c.platform, FaultEntry, keys, "%s", quoteName(word))
	}
}

// isAbsolute reports whether a path is absolute on any system.
func isAbsolute(word string) bool {
	return strings.HasPrefix(word, "/") || strings.HasPrefix(word, `\\`) || drive().MatchString(word)
}

// checkExecutable finds a program that has no permission to run.
func (e *examiner) checkExecutable(c commandOn, name string, keys []string) {
	mode, ok := e.b.Mode(name)
	made := e.b.findSystem(name)
	isProgram := slices.ContainsFunc([]string{".exe", ".cmd", ".bat", ".com"}, func(suffix string) bool {
		return strings.HasSuffix(strings.ToLower(name), suffix)
	})
	_, withSuffix := e.b.Mode(name + ".exe")
	switch {
	case c.platform == "win32" && !isProgram && !withSuffix:
		e.addOn(c.platform, FaultEntry, keys, "%s", quoteName(name+".exe"))
	case c.platform == "win32" && withSuffix:
	case made != "" && made != c.platform:
		e.addOn(c.platform, FaultEntry, keys, "%s is a program for %s", quoteName(name), made)
	case !ok || c.platform == "win32" || mode&0o111 != 0:
	case mode == 0:
		e.addOn(c.platform, FaultExecutable, keys, "the archive has no permissions for %s", quoteName(name))
	default:
		e.addOn(c.platform, FaultExecutable, keys, "%s has the permissions %04o", quoteName(name), mode)
	}
}

// findSystem returns the system that a program was compiled for; "" if it is none, or runs
// anywhere.
func (b *Bundle) findSystem(name string) string {
	head := b.readHead(name)
	for system, starts := range map[string][]string{
		"linux":  {"\x7fELF"},
		"win32":  {"MZ"},
		"darwin": {"\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe"},
	} {
		for _, start := range starts {
			if strings.HasPrefix(head, start) {
				return system
			}
		}
	}
	return ""
}

// hosted are programs that clients bring along or that a manifest may require of a user.
var hosted = []string{"node", "python", "python3", "uv", "env", "sh", "bash", "cmd"}

// checkProgram examines a program that is looked up on the machine of the user.
func (e *examiner) checkProgram(c commandOn) {
	word := c.Command.Command
	if strings.ContainsAny(word, `/\$`) || word == "" {
		return
	}
	keys := e.keysOf(c, "command")
	name := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(word), ".exe"), ".cmd")
	switch {
	case slices.Contains([]string{"npx", "bunx", "uvx", "pipx"}, name):
		e.add(FaultOutside, keys, "%s downloads the server when it is started: the bundle does not contain it", word)
	case e.m.Server.Type == "uv" && name != "uv":
		e.add(FaultOutside, keys, "the server type is uv, and %s is started", word)
	case !slices.Contains(hosted, name):
		e.add(FaultOutside, keys, "%s is not in the bundle: it must be installed on the machine of the user", word)
	}
}

// machine matches a path of the machine on which a bundle was made.
var machine = lazy.Regexp(`(?:^|[=:;,\s])(/Users/[^/\s]+/|/home/[^/\s]+/|[A-Za-z]:[\\/]Users[\\/])`)

// variableName matches a variable in a text.
var variableName = lazy.Regexp(`\$\{([^{}]*)\}`)

// uses examines every text of the command for variables and paths.
func (e *examiner) uses(c commandOn) {
	e.checkText(c, c.Command.Command, true, "command")
	isShell := slices.Contains([]string{"sh", "bash", "cmd"}, c.Command.Command)
	for i, arg := range c.Args {
		if isShell && i > 0 && c.Args[i-1] == "-c" {
			continue // its variables are the shell's
		}
		e.checkText(c, arg, false, "args", fmt.Sprint(i))
	}
	for _, kv := range c.Env.Entries {
		e.checkText(c, kv.Value, true, "env", kv.Key)
	}
}

// checkText examines one text. inText is set where a list can't be replaced, even if it is all of
// the text.
func (e *examiner) checkText(c commandOn, text string, inText bool, part ...string) {
	keys := e.keysOf(c, part...)
	if m := machine().FindStringSubmatch(text); m != nil && part[0] != "command" {
		e.add(FaultOutside, keys, "%s is a path of one machine", quoteName(strings.TrimSpace(m[1])))
	}
	for _, m := range variableName().FindAllStringSubmatch(text, -1) {
		if key, ofUser := strings.CutPrefix(m[1], userPrefix); ofUser {
			e.checkOption(c, key, keys, inText || findWholeOption(text) == "", part)
		} else if _, known := (System{}).listVariables("")[m[1]]; !known {
			e.add(FaultVariable, keys, "the server gets ${%s} as it is written", m[1])
		}
	}
}

// checkOption examines the use of an option.
func (e *examiner) checkOption(c commandOn, key string, keys []string, inText bool, part []string) {
	o, declared := e.m.Options.Get(key)
	where := "the argument " + display.Escape(part[len(part)-1])
	switch part[0] {
	case "env":
		where = "the variable " + display.Escape(part[1])
	case "command":
		where = "the command"
	}
	isEmpty := o.Default != nil && o.Default.Kind == source.KindString && o.Default.Text == ""
	isUnset := o.Default == nil && !o.Required
	switch {
	case !declared:
		e.add(FaultOption, keys, "there is no %q: the server gets ${user_config.%s}%s", key, key,
			source.Parenthesis(source.DidYouMean(key, e.m.Options.Keys())))
	case inText && (o.Multiple || o.Default != nil && o.Default.Kind == source.KindList):
		const text = "in place of the values of %q, the server gets ${user_config.%s}"
		e.add(FaultList, keys, text, key, key)
	case e.given[key]:
	case isUnset:
		const text = "%s gets ${user_config.%s} if %q has no value (in some clients an empty text)"
		e.add(FaultUnset, keys, text, where, key, key)
	case isEmpty && inText:
		e.add(FaultUnset, keys, "%s gets an empty text: the default of %q is empty", where, key)
	case isEmpty:
		e.add(FaultUnset, keys, "%s gets ${user_config.%s}: the default of %q is empty", where, key, key)
	}
}

// FromParts returns a bundle that is in no file: a manifest, and the names of its files, which
// may be run. It is for examples.
func FromParts(manifest []byte, files []string) (*Bundle, source.Diagnostics) {
	m, ds := readManifest(&source.File{Name: manifestName, Data: manifest})
	b := &Bundle{Name: "example.mcpb", Manifest: m, files: map[string]fs.FileMode{}}
	for _, name := range files {
		plain, isPlain := strings.CutSuffix(name, " (not executable)")
		b.files[plain] = 0o755
		if isPlain {
			b.files[plain] = 0o644
		}
	}
	if m == nil {
		return nil, ds
	}
	return b, ds
}
