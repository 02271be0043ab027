package suite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/source"
	"mcptest/internal/server/recording"
	"mcptest/internal/spec/suite/dotenv"
	"mcptest/internal/spec/suite/interpolate"
	"mcptest/internal/spec/suite/variants"
)

// Options are the external inputs of Load.
type Options struct {
	Env          []string          // the process environment, as in os.Environ
	EnvFiles     []string          // read instead of .env next to the suite
	Vars         map[string]string // override variables; values are read as YAML scalars
	Random       *recording.Random // of all suites of a run; nil: each suite generates its own
	AllowOutside bool              // imports may leave the root suite's directory
	// BaseDir is the directory that file names in messages are relative to; the
	// working directory if empty.
	BaseDir string
	// Programs runs what prints the variants of servers; nil: nothing is started.
	Programs variants.Programs
	// Texts are read in place of the files at these absolute paths.
	Texts map[string][]byte
}

// loader is the state of reading the files of one suite.
type loader struct {
	opts  Options
	suite *Suite
	dec   *source.Decoder
	docs  []*loadedDoc
	seen  map[string]bool // files that were read, with symbolic links resolved
	stack []string        // files being read, to detect import cycles
	vars  map[string]*source.Node
	decls map[string]*variableDecl
	env   *dotenv.Environ
	// recorded are the values of ${random.KEY} in recordings; nil until one is used.
	recorded map[string]string
}

// loadedDoc is one file after decoding.
type loadedDoc struct {
	file  *source.File
	root  *source.Node
	scope *interpolate.Scope
	doc   document
	// filled is root with placeholders expanded, except those in tests.
	filled *source.Node
	// blocks keeps the lists of tests in order.
	blocks []source.Field
}

// Load reads the suite at path and everything it imports. The Suite is nil if
// nothing useful could be read. Otherwise it contains everything that could be
// decoded, so that package plan can find more mistakes.
func Load(path string, o Options) (*Suite, source.Diagnostics) {
	l := &loader{
		opts: o, dec: new(source.Decoder), seen: map[string]bool{},
		vars: map[string]*source.Node{}, decls: map[string]*variableDecl{},
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		l.dec.Add(source.Diagnostic{Msg: fmt.Sprintf("find %s: %v", path, err), Code: "unreadable"})
		return nil, l.dec.Diagnostics()
	}
	if l.opts.Random == nil {
		l.opts.Random = new(recording.Random)
	}
	dir := filepath.Dir(abs)
	l.suite = &Suite{Dir: dir, Random: map[string]string{}}
	l.suite.DotEnv = l.readDotEnv(dir, o.EnvFiles)
	l.env = dotenv.NewEnviron(o.Env, l.suite.DotEnv)
	l.suite.Secrets = append(l.suite.Secrets, secret.FindInEnviron(o.Env)...)
	for _, v := range l.suite.DotEnv {
		if len(v.Value) >= secret.MinLength {
			l.suite.Secrets = append(l.suite.Secrets, v.Value)
		}
	}
	l.read(abs, source.Pos{}, "")
	if len(l.docs) == 0 {
		return nil, l.dec.Diagnostics()
	}
	l.suite.File = l.docs[0].file
	l.resolveVariables()
	l.markUsedNames()
	for _, d := range l.docs {
		value := func(n *source.Node, path string) *source.Node {
			return d.scope.Expand(n, path, interpolate.Bindings{}, l.dec)
		}
		programs, unknown := variants.Expand(d.root.Get("servers"), d.scope.Dir, o.Programs, value, l.dec)
		l.suite.Programs, l.suite.Unknown = append(l.suite.Programs, programs...), append(l.suite.Unknown, unknown...)
		l.decode(d)
	}
	l.merge()
	l.check()
	ds := l.dec.Diagnostics()
	l.suite.EnvRead, l.suite.EnvMissing = l.env.StopRecording()
	l.release()
	return l.suite, ds
}

// release releases what the suite's scopes would otherwise keep alive: they refer to
// the loader to look up variables.
func (l *loader) release() {
	l.docs, l.seen, l.dec = nil, nil, nil
	for _, v := range l.decls {
		v.Node, v.Value, v.From = nil, nil, nil
	}
}

// read parses a file and, depth first, its imports. from is the position of the
// import.
func (l *loader) read(abs string, from source.Pos, path string) {
	id := resolveLinks(abs)
	if i := slices.Index(l.stack, id); i >= 0 {
		l.reportCycle(append(slices.Clone(l.stack[i:]), id), from, path)
		return
	}
	if l.seen[id] {
		return // imported by two files: read only once
	}
	l.seen[id] = true
	root, file := l.parse(abs, from, path)
	if root == nil {
		l.suite.Partial = true
		return
	}
	d := &loadedDoc{file: file, root: root}
	d.scope = &interpolate.Scope{Dir: filepath.Dir(abs), Variable: l.findVariable, Env: l.env.Get, Names: l.listNames}
	l.docs = append(l.docs, d)
	l.declare(d)

	l.stack = append(l.stack, id)
	defer func() { l.stack = l.stack[:len(l.stack)-1] }()
	for i, imp := range listItems(root.Get("imports")) {
		l.readImport(d, imp, source.PathIndex("imports", i))
	}
}

// reportCycle reports files that import each other. The first is also the last.
func (l *loader) reportCycle(files []string, from source.Pos, path string) {
	chain := make([]string, len(files))
	for i, file := range files {
		chain[i] = l.shortenPath(file)
	}
	l.dec.Add(source.Diagnostic{
		Pos: from, Path: path, Code: "import-cycle",
		Msg: "import cycle: " + strings.Join(chain, " → "), Hint: "remove one of these imports",
	})
}

// parse reads one file. It returns a nil node if the file is not a suite.
func (l *loader) parse(abs string, from source.Pos, path string) (*source.Node, *source.File) {
	file, diags := l.open(abs)
	if file == nil {
		for _, d := range diags {
			if from.File != nil {
				d.Msg = fmt.Sprintf("can't import %s: %s", l.shortenPath(abs), d.Msg)
				d.Pos, d.Path = from, path
			}
			l.dec.Add(d)
		}
		return nil, nil
	}
	l.suite.Files = append(l.suite.Files, abs)
	root, diags := source.Parse(file)
	for i := range diags {
		if diags[i].Code == "empty" {
			diags[i].Hint = "mcptest init -- COMMAND writes a first suite"
		}
	}
	l.dec.Add(diags...)
	if root != nil && root.Kind != source.KindMap {
		l.dec.ReportWrongType(root, "", "a suite: a map of keys (servers, tools, …)")
		root = nil
	}
	if refuseForeign(l.dec, root) {
		return nil, file
	}
	if root == nil {
		return nil, file
	}
	dropExtensions(root)
	nameServer(l.dec, root)
	rename(root)
	rename(root.Get("defaultTest"))
	rename(root.Get("hooks"))
	for block := range EntryTypes() {
		for _, test := range listItems(root.Get(string(block))) {
			rename(test)
		}
	}
	return root, file
}

func (l *loader) open(abs string) (*source.File, source.Diagnostics) {
	name := l.shortenPath(abs)
	if text, given := l.opts.Texts[abs]; given {
		return &source.File{Name: name, Path: abs, Data: text}, nil
	}
	return source.Read(abs, name)
}

// dropExtensions removes the keys of a file that begin with x-: they are a place for values
// that anchors name. What an alias refers to stays where the alias is.
func dropExtensions(root *source.Node) {
	if root.Kind != source.KindMap {
		return
	}
	var kept []source.Field
	for _, f := range root.Fields {
		if !strings.HasPrefix(f.Key.Text, "x-") {
			kept = append(kept, f)
		}
	}
	root.Fields = kept
}

// camels are the keys with capitals, by their spelling with underscores.
var camels = map[string]string{
	"default_test": "defaultTest", "derived_metrics": "derivedMetrics",
	"before_all": "beforeAll", "after_all": "afterAll", "before_each": "beforeEach", "after_each": "afterEach",
}

// rename gives the keys of a map that are written with underscores the names that are
// documented. If a map has both, the second one stays unknown.
func rename(n *source.Node) {
	if n == nil {
		return
	}
	for i, f := range n.Fields {
		if name := camels[f.Key.Text]; name != "" && n.Get(name) == nil {
			key := *f.Key
			key.Text = name
			n.Fields[i].Key = &key
		}
	}
}

func (l *loader) readImport(d *loadedDoc, imp *source.Node, path string) {
	// Mistakes of the scalar are reported when the document is decoded.
	var dec source.Decoder
	imp = d.scope.Expand(imp, path, interpolate.Bindings{}, &dec)
	name, ok := imp.AsText()
	switch {
	case !ok || len(dec.Diagnostics()) > 0:
		return
	case name == "":
		l.dec.Errorf(imp, path, "the path is empty")
		return
	}
	abs := filepath.FromSlash(name)
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(filepath.Dir(d.file.Path), abs)
	}
	if !l.opts.AllowOutside && !IsInside(l.suite.Dir, abs) {
		l.dec.ErrorAt(imp.Pos, path, name+" is outside the suite's directory",
			"move it below "+l.shortenPath(l.suite.Dir)+", or run with --allow-outside")
		l.suite.Partial = true
		return
	}
	if _, err := os.Stat(abs); err != nil {
		hint := source.Suggest(l.describeBesides(d, abs))
		if hint == "" {
			hint = "looked for " + abs
		}
		l.dec.ErrorAt(imp.Pos, path, fmt.Sprintf("can't import %s: %s", name, readError(err)), hint)
		l.suite.Files, l.suite.Partial = append(l.suite.Files, filepath.Clean(abs)), true
		return
	}
	if !filepath.IsAbs(name) {
		l.dec.WarnElsewhere(imp, path, filepath.Dir(d.file.Path), name)
	}
	l.read(filepath.Clean(abs), imp.Pos, path)
}

// describeBesides returns a file near a missing one, by its path from the file that names it.
func (l *loader) describeBesides(d *loadedDoc, abs string) string {
	near := source.FindNearFile(abs)
	if rel, err := filepath.Rel(filepath.Dir(d.file.Path), near); err == nil && near != "" {
		return filepath.ToSlash(rel)
	}
	return near
}

// IsInside reports whether path is dir or below it, after resolving symbolic
// links where they exist.
func IsInside(dir, path string) bool {
	rel, err := filepath.Rel(resolveLinks(dir), resolveLinks(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// resolveLinks follows the symbolic links of the part of a path that exists.
func resolveLinks(path string) string {
	rest := ""
	for dir := filepath.Clean(path); ; {
		if p, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(p, rest)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return filepath.Clean(path)
		}
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = parent
	}
}

func readError(err error) string {
	switch {
	case os.IsNotExist(err):
		return "no such file"
	case os.IsPermission(err):
		return "no permission to read it"
	}
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// shortenPath returns a path for messages: relative if it is below the base directory.
func (l *loader) shortenPath(abs string) string {
	base := l.opts.BaseDir
	if base == "" {
		base, _ = os.Getwd()
	}
	if rel, err := filepath.Rel(base, abs); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(abs)
}

func (l *loader) reportDeclaredTwice(what, name, path string, pos, other source.Pos) {
	l.dec.Add(source.Diagnostic{
		Pos: pos, Path: path, Code: "import-clash",
		Msg:     fmt.Sprintf("%s %q is declared twice", what, name),
		Related: []source.Related{{Pos: other, Msg: "first declared here"}},
	})
}

func listItems(n *source.Node) []*source.Node {
	if n == nil || n.Kind != source.KindList {
		return nil
	}
	return n.Items
}
