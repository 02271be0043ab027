package clientconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcptest/internal/cli/clientconfig"
)

const vscode = `{
	// servers of the project
	"inputs": [{"id": "token", "type": "promptString"}],
	"servers": {
		/* "files": {"command": "old"}, */
		"files": {
			"type": "stdio",
			"command": "npx", // pinned below
			"args": [
				"-y",
				"@scope/server@1.2.3", /* "x" */
				"${workspaceFolder}",
			],
			"env": {"TOKEN": "${input:token}"},
		},
		"short": {"command": "server"},
		"remote": {"type": "http", "url": "https://mcp.example.com/mcp"},
	},
}
`

func TestWrapKeepsTheRestOfTheFile(t *testing.T) {
	t.Parallel()
	got, err := clientconfig.Wrap([]byte(vscode), "servers", "files", []string{"/bin/mcptest", "record", "-o", "/tmp/out"})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(vscode, `"command": "npx"`, `"command": "/bin/mcptest"`, 1)
	want = strings.Replace(want, `[
				"-y",
				"@scope/server@1.2.3", /* "x" */
				"${workspaceFolder}",
			]`, `[
				"record",
				"-o",
				"/tmp/out",
				"--",
				"npx",
				"-y",
				"@scope/server@1.2.3",
				"${workspaceFolder}"
			]`, 1)
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := clientconfig.Wrap(got, "servers", "files", []string{"/bin/mcptest", "record"}); err != clientconfig.ErrRecorded {
		t.Error(err)
	}
	got, err = clientconfig.Wrap([]byte(vscode), "servers", "short", []string{"/bin/mcptest", "record"})
	if err != nil || !strings.Contains(string(got), `"short": {"command": "/bin/mcptest", "args": ["record", "--", "server"]}`) {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestErrorsNameTheCause(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ src, name, want string }{
		{vscode, "remote", "a server with a url"},
		{vscode, "fils", `no server called "fils"; it has files, short, remote`},
		{`{"servers": {"a": {"command": 1}}}`, "a", "is not a string"},
		{`{"servers": {"a": {"command": "x", "args": "y"}}}`, "a", "not a list of strings"},
		{`{"servers": {"a": {}}}`, "a", "has no command"},
		{`{"servers": []}`, "a", `no "servers"`},
		{`{"servers": {"a": `, "a", "not valid JSON"},
		{`{"servers": {} /* `, "a", "not valid JSON"},
		{``, "a", "not valid JSON"},
	} {
		if _, err := clientconfig.Wrap([]byte(c.src), "servers", c.name, []string{"mcptest"}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", c.src, err, c.want)
		}
	}
}

// write puts a configuration into a home.
func write(t *testing.T, content string, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o640); err != nil {
		t.Fatal(err)
	}
	return file
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestUndoRestoresEachFile(t *testing.T) {
	t.Parallel()
	plain := "{\r\n  \"mcpServers\": {\r\n    \"files\": { \"args\": [], \"command\": \"node\" }\r\n  }\r\n}"
	for _, c := range []struct {
		client, os string
		path       []string
		content    string
	}{
		{"claude-desktop", "linux", []string{".config", "Claude", "claude_desktop_config.json"}, plain},
		{"claude-desktop", "darwin", []string{"Library", "Application Support", "Claude", "claude_desktop_config.json"}, plain},
		{"claude-desktop", "windows", []string{"AppData", "Roaming", "Claude", "claude_desktop_config.json"}, "\ufeff" + plain},
		{"vscode", "linux", []string{"project", ".vscode", "mcp.json"}, vscode},
		{"vscode", "linux", []string{".config", "Code", "User", "mcp.json"}, vscode},
		{"cursor", "linux", []string{".cursor", "mcp.json"}, plain},
	} {
		t.Run(c.client+"/"+c.os, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			file := write(t, c.content, append([]string{home}, c.path...)...)
			places, err := clientconfig.ListPlaces(c.client, clientconfig.System{OS: c.os, Home: home, Dir: filepath.Join(home, "project")})
			if err != nil {
				t.Fatal(err)
			}
			p, src, err := clientconfig.Find(places, "files")
			if err != nil || p.Path != file {
				t.Fatal(p, err)
			}
			wrapped, err := clientconfig.Wrap(src, p.Key, "files", []string{"/opt/mcptest", "record"})
			if err != nil {
				t.Fatal(err)
			}
			backup, err := clientconfig.Save(p.Path, src, wrapped)
			if err != nil || read(t, backup) != c.content || read(t, file) != string(wrapped) {
				t.Fatal(backup, err)
			}
			if info, _ := os.Stat(file); info.Mode().Perm() != 0o640 {
				t.Error(info.Mode())
			}
			if _, err := clientconfig.Undo(p, wrapped, "files"); err != nil {
				t.Fatal(err)
			}
			if got := read(t, file); got != c.content {
				t.Errorf("after --undo:\n%s", got)
			}
			if _, err := os.Stat(backup); err == nil {
				t.Error("the backup is still there")
			}
			if _, err := clientconfig.Undo(p, src, "files"); err == nil {
				t.Error("undone twice")
			}
		})
	}
}

func TestUndoKeepsLaterChanges(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := write(t, `{"mcpServers": {"a": {"command": "x", "args": ["1"]}}}`, home, ".cursor", "mcp.json")
	p := clientconfig.Place{Path: file, Key: "mcpServers"}
	src := []byte(read(t, file))
	wrapped, _ := clientconfig.Wrap(src, p.Key, "a", []string{"/opt/mcptest", "record"})
	backup, err := clientconfig.Save(file, src, wrapped)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(wrapped), `"mcpServers"`, `"theme": "dark", "mcpServers"`, 1)
	write(t, edited, file)
	if _, err := clientconfig.Save(file, wrapped, wrapped); err == nil {
		t.Error("a file that was changed in the meantime was overwritten")
	}
	if _, err := clientconfig.Undo(p, []byte(edited), "a"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, file); got != `{"theme": "dark", "mcpServers": {"a": {"command": "x", "args": ["1"]}}}` {
		t.Error(got)
	}
	if read(t, backup) != string(src) {
		t.Error("the backup was changed")
	}
}
