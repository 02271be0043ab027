package watch

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/base/lists"
	"mcptest/internal/run"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// Inputs are the files that a plan was made from, and .env, which may be created.
func Inputs(suites []*suite.Suite, p *plan.Plan) (out []string) {
	for _, s := range suites {
		out = append(append(out, s.Files...), filepath.Join(s.Dir, ".env"))
		for _, program := range s.Programs {
			out = append(out, listProgramFiles(program.Argv, program.Dir)...)
		}
	}
	for _, file := range p.Files {
		out = append(out, file.Inputs()...)
		if file.Snapshots != nil {
			out = append(out, file.Snapshots.Path)
		}
		for _, sv := range file.Servers {
			out = append(out, listProgramFiles(sv.Argv, sv.Dir)...)
		}
		for _, h := range slices.Concat(file.BeforeAll, file.AfterAll, file.BeforeEach, file.AfterEach) {
			out = append(out, listProgramFiles(h.Argv, h.Dir)...)
		}
		for _, st := range slices.Concat(file.Setup, file.SetupPerTest, file.TeardownPerTest, file.Teardown) {
			out = append(out, listProgramFiles(st.Argv, st.Dir)...)
		}
	}
	return out
}

// FindAffected returns the cases that changes of files may affect: those of a suite that
// depends on one of the files or is outside of root, and those that use one of the names,
// of tools for example. If there are names, cases without a name are affected too.
func FindAffected(p *plan.Plan, root string, files, names map[string]bool) (cases []int) {
	all := make([]bool, len(p.Files))
	for i, file := range p.Files {
		real := listPlaces(file.Dir)
		all[i] = !strings.HasPrefix(real[len(real)-1]+string(filepath.Separator), root+string(filepath.Separator))
		paths := Inputs([]*suite.Suite{file.Suite}, &plan.Plan{Files: []*plan.File{file}})
		for _, sv := range file.Servers { // what a server reads is often in a folder that its command names
			for _, word := range sv.Argv {
				if !filepath.IsAbs(word) {
					word = filepath.Join(sv.Dir, word)
				}
				paths = append(paths, word)
			}
		}
		for _, path := range paths {
			abs, err := filepath.Abs(path)
			all[i] = all[i] || err != nil || slices.ContainsFunc(listPlaces(abs),
				func(at string) bool { return files[at] })
		}
	}
	uses := func(op *plan.Op) bool { return op.Subject == "" || names[op.Subject] }
	for i := range p.Len() {
		if all[p.FileOf(i)] || len(names) > 0 && slices.ContainsFunc(p.Case(i).Ops, uses) {
			cases = append(cases, i)
		}
	}
	return cases
}

// listProgramFiles are the files that the command of a server, hook or step names, and
// the files that are probably parts of the same program: its program, which may be
// missing, unless it is looked up in PATH, and scripts.
func listProgramFiles(argv []string, dir string) (out []string) {
	for i, word := range argv {
		path := i == 0 && strings.ContainsRune(filepath.ToSlash(word), '/')
		if !filepath.IsAbs(word) {
			word = filepath.Join(dir, word)
		}
		info, err := os.Stat(word)
		switch {
		case err == nil && info.IsDir() && i > 0 && argv[0] == "go":
			out = append(out, listParts(Project(word, "go.mod"), []string{".go"})...)
		case i > 0 && argv[i-1] == "-m" && (err != nil || info.IsDir()):
			out = append(out, listParts(Project(filepath.Dir(word), packages...), []string{".py"})...)
		case path && os.IsNotExist(err) || err == nil && info.Mode().IsRegular():
			out = append(out, word)
			for _, name := range listPlaces(word) {
				out = append(out, listParts(Project(filepath.Dir(name), packages...),
					listSourceTypes(filepath.Ext(name)))...)
			}
		}
	}
	return out
}

// listSourceTypes returns the extensions of files that a script with an extension may
// import; nil if it is not known to be a script.
func listSourceTypes(ext string) []string {
	return lists.First([][]string{
		{".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"},
		{".py"},
		{".rb"},
		{".php"},
		{".go"},
		{".sh"},
	}, func(list []string) bool {
		return slices.Contains(list, ext)
	})
}

// Project returns the nearest folder above dir, or dir, that contains one of the files,
// such as go.mod; dir if there is none.
func Project(dir string, files ...string) string {
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		for _, name := range files {
			if _, err := os.Stat(filepath.Join(at, name)); err == nil {
				return at
			}
		}
	}
	return dir
}

// packages are the files that mark the folder of a package.
var packages = []string{"package.json", "pyproject.toml", "setup.py", "go.mod", "composer.json", "Gemfile"}

// maxParts bounds the files that are watched for one script, maxLooked those that are
// looked at.
const (
	maxParts  = 2000
	maxLooked = 20000
)

// listParts returns the files with these extensions in a folder and below it, without
// those of installed packages.
func listParts(root string, types []string) (out []string) {
	if types == nil {
		return nil
	}
	seen := 0
	_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		seen++
		switch {
		case seen > maxLooked || len(out) == maxParts:
			return filepath.SkipAll
		case err != nil || d.IsDir() && path != root && hasNoParts(d.Name()):
			return filepath.SkipDir
		case !d.IsDir() && slices.Contains(types, filepath.Ext(path)):
			out = append(out, path)
		}
		return nil
	})
	return out
}

// hasNoParts reports whether a folder is hidden or contains installed packages.
func hasNoParts(folder string) bool {
	return strings.HasPrefix(folder, ".") || slices.Contains([]string{"node_modules", "site-packages", "vendor"}, folder)
}

// KeepServers reports whether the servers of a plan are kept for the next run. It stops
// servers of the previous run that this plan cannot reuse. The servers of suites with hooks
// or fixtures are started for each run, because hooks and fixtures may prepare something
// that the server needs.
func KeepServers(ctx context.Context, warm *run.Warm, p *plan.Plan) bool {
	var keep []*plan.Server
	plain := true
	for _, file := range p.Files {
		hooks := len(file.BeforeAll) + len(file.AfterAll) + len(file.BeforeEach) + len(file.AfterEach)
		perTest := len(file.SetupPerTest) + len(file.TeardownPerTest)
		if hooks+perTest+len(file.Setup)+len(file.Teardown)+len(file.Upstreams) > 0 {
			plain = false
		}
		for _, s := range file.Servers {
			if len(listProgramFiles(s.Argv, s.Dir)) > 0 { // otherwise a change of the program would not be noticed
				keep = append(keep, s)
			}
		}
	}
	if !plain {
		keep = nil
	}
	warm.Keep(ctx, keep, func(s *plan.Server) string {
		var stamp strings.Builder
		for _, name := range listProgramFiles(s.Argv, s.Dir) {
			if info, err := os.Stat(name); err == nil {
				fmt.Fprintln(&stamp, name, info.ModTime().UnixNano(), info.Size())
			}
		}
		return stamp.String()
	})
	return plain
}

// SortFailedFirst moves the cases that failed in the last run to the front of their
// file.
func SortFailedFirst(p *plan.Plan, failed map[string]bool) {
	type place struct{ file, rank, at int }
	places := make([]place, p.Len())
	for i := range places {
		places[i] = place{file: p.FileOf(i), rank: 1, at: i}
		if name := p.Name(i); failed[name] || failed[plan.NameHash(name)] {
			places[i].rank = 0
		}
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.rank, b.rank))
	})
	p.Arrange(lists.Map(places, func(pl place) int { return pl.at }))
}
