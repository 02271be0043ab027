package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/osfile"
	"mcptest/internal/base/syserr"
)

// Clients are the names of the clients whose configuration can be edited.
func Clients() []string { return []string{"claude-desktop", "vscode", "cursor"} }

// Place is a configuration file.
type Place struct {
	Path string
	Key  string // the member that holds the servers
}

// System is where the files of a user are.
type System struct {
	OS     string // as runtime.GOOS
	Home   string
	Config string // the folder of settings: XDG_CONFIG_HOME or APPDATA; "" = the usual one
	Dir    string // the project
}

// ListPlaces are the files of a client, the first one that defines a server wins.
func ListPlaces(client string, s System) ([]Place, error) {
	config := s.Config
	switch {
	case s.OS == "darwin":
		config = filepath.Join(s.Home, "Library", "Application Support")
	case config == "" && s.OS == "windows":
		config = filepath.Join(s.Home, "AppData", "Roaming")
	case config == "":
		config = filepath.Join(s.Home, ".config")
	}
	switch client {
	case "claude-desktop":
		return []Place{{filepath.Join(config, "Claude", "claude_desktop_config.json"), "mcpServers"}}, nil
	case "vscode":
		return []Place{
			{filepath.Join(s.Dir, ".vscode", "mcp.json"), "servers"},
			{filepath.Join(config, "Code", "User", "mcp.json"), "servers"},
		}, nil
	case "cursor":
		return slices.Compact([]Place{
			{filepath.Join(s.Dir, ".cursor", "mcp.json"), "mcpServers"},
			{filepath.Join(s.Home, ".cursor", "mcp.json"), "mcpServers"},
		}), nil
	}
	return nil, fmt.Errorf("unknown client %q: expected %s", client, strings.Join(Clients(), ", "))
}

// read returns the text of a regular file: reading a pipe waits for its writer.
func read(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	text, err := os.ReadFile(path)
	if name := jsonv.DetectEncoding(text); name != "" {
		return nil, fmt.Errorf("the file is encoded in %s, not UTF-8; %s", name, jsonv.SaveAsUTF8)
	}
	return text, err
}

// Find returns the file that defines a server, with its content.
func Find(places []Place, name string) (Place, []byte, error) {
	var why []error
	found := false
	for _, p := range places {
		src, err := read(p.Path)
		if errors.Is(err, fs.ErrNotExist) {
			why = append(why, fmt.Errorf("%s does not exist", p.Path))
			continue
		}
		if err == nil {
			_, err = find(src, p.Key, name)
		}
		if err == nil {
			return p, src, nil
		}
		found = true
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			err = syserr.Plain(path.Err)
		}
		why = append(why, fmt.Errorf("%s: %w", p.Path, err))
	}
	if !found {
		why = append(why, errors.New("add the server to the configuration of the client first"))
	}
	return Place{}, nil, errors.Join(why...)
}

const backupSuffix = ".mcptest-backup"

// Save replaces the file by new after it has kept the old content as a backup,
// whose path it returns.
func Save(path string, old, new []byte) (backup string, err error) {
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	backup = path + backupSuffix
	for n := 2; ; n++ {
		f, err := os.OpenFile(backup, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
		if errors.Is(err, fs.ErrExist) {
			backup = fmt.Sprintf("%s%s-%d", path, backupSuffix, n)
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(old)
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			return "", err
		}
		break
	}
	return backup, write(path, old, new, info.Mode().Perm())
}

// write replaces a file that still has the content it was read with.
func write(path string, old, new []byte, perm fs.FileMode) error {
	now, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, old) {
		return fmt.Errorf("%s was changed in the meantime: try again", path)
	}
	return osfile.Replace(path, new, perm)
}

// Undo starts a server directly again. If nothing else in the file has changed since
// it was wrapped, the backup is restored byte for byte. When no server is recorded any
// more, backups that contain nothing else are removed; the others are returned.
func Undo(p Place, src []byte, name string) (kept []string, err error) {
	path, err := filepath.EvalSymlinks(p.Path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	out, err := Unwrap(src, p.Key, name)
	if err != nil {
		return nil, err
	}
	now, err := find(src, p.Key, name)
	if err != nil {
		return nil, err
	}
	proxy := append([]string{now.program}, now.words[:len(now.words)-len(now.recordedProgram)-1]...)
	backups, err := filepath.Glob(osfile.EscapeGlob(path) + backupSuffix + "*")
	if err != nil {
		return nil, err
	}
	for _, b := range backups {
		before, err := read(b)
		if err != nil {
			continue
		}
		if again, err := Wrap(before, p.Key, name, proxy); err == nil && bytes.Equal(again, src) {
			out = before
			break
		}
	}
	if err := write(path, src, out, info.Mode().Perm()); err != nil {
		return nil, err
	}
	last := bytes.Equal(direct(out, p.Key), out) // other servers need their backups
	for _, b := range backups {
		before, err := read(b)
		if last {
			before = direct(before, p.Key)
		}
		same := err == nil && bytes.Equal(before, out)
		if removed := same && os.Remove(b) == nil; !removed && last {
			kept = append(kept, b)
		}
	}
	return kept, nil
}
