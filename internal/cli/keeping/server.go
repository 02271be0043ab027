package keeping

import (
	"fmt"
	"path/filepath"
	"slices"

	"mcptest/internal/base/display"
	"mcptest/internal/base/lists"
	"mcptest/internal/spec/plan"
)

// chooseServer returns the `server:` of the test, "" for the default of the suite.
func chooseServer(file *plan.File, r Request) (name string, notes []string, err error) {
	if r.Server != "" {
		sv := file.Server(r.Server)
		if sv == nil {
			return "", nil, refuse("%s declares no server called %s%s", file.Path, r.Server, joinKnown(file))
		}
		return nameUnlessDefault(file, sv), nil, nil
	}
	same := func(sv *plan.Server) bool {
		if sv == nil {
			return false
		}
		if len(r.Argv) == 0 {
			return r.URL != "" && sv.URL == r.URL
		}
		return isSameCommand(filepath.Dir(file.Path), sv.Written(), r.Argv)
	}
	if same(file.Default) {
		return "", nil, nil
	}
	if i := slices.IndexFunc(file.Servers, same); i >= 0 {
		return file.Servers[i].Name, nil, nil
	}
	if file.Default == nil {
		return "", nil, refuse("%s has no server with this command or address, and no default: use --config %s --server NAME%s", file.Path, file.Path, joinKnown(file))
	}
	note := fmt.Sprintf("%s has no server with this command or address: the test uses its server %s", file.Path, file.Default.Name)
	return "", []string{note}, nil
}

// IsSame reports whether a server of a suite is for certain one that the command line names:
// the same address with the same headers, or the same command in the same folder and
// environment. What one says of its tools then holds for the other. Servers that show a
// client or a login something of its own are never the same.
func IsSame(of, named *plan.Server) bool {
	for _, sv := range []*plan.Server{of, named} {
		if sv.Bundle != nil || sv.Auth != nil || !sv.Client.IsZero() {
			return false
		}
	}
	if of.URL != named.URL || !slices.Equal(of.Headers, named.Headers) {
		return false
	}
	if named.URL != "" {
		return true
	}
	if makeAbsolute("", of.Dir) != makeAbsolute("", named.Dir) {
		return false
	}
	env, other := slices.Sorted(slices.Values(of.Env)), slices.Sorted(slices.Values(named.Env))
	return len(named.Argv) > 0 && isSameCommand(named.Dir, of.Argv, named.Argv) && slices.Equal(env, other)
}

// isSameCommand reports whether two commands are equal, or differ only in how they write paths
// of a folder.
func isSameCommand(dir string, written, argv []string) bool {
	return slices.EqualFunc(written, argv, func(a, b string) bool {
		if a == b {
			return true
		}
		return filepath.IsAbs(a) != filepath.IsAbs(b) && makeAbsolute(dir, a) == makeAbsolute(dir, b)
	})
}

// makeAbsolute returns a path of a folder as an absolute one.
func makeAbsolute(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return abs
}

func nameUnlessDefault(file *plan.File, sv *plan.Server) string {
	if sv == file.Default {
		return ""
	}
	return sv.Name
}

func joinKnown(file *plan.File) string {
	if len(file.Servers) == 0 {
		return ""
	}
	return " (it has " + display.List(lists.Map(file.Servers, func(sv *plan.Server) string { return sv.Name }), 5) + ")"
}
