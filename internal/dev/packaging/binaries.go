package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// binary is the program mcptest for one platform.
type binary struct {
	platform
	path string
}

// compile builds the program for this platform.
func compile(folder string) (binary, error) {
	p, err := platformOf(runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return binary{}, err
	}
	path := filepath.Join(folder, p.program())
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "./cmd/mcptest")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return binary{p, path}, cmd.Run()
}

// release is what goreleaser left in its folder.
type release struct {
	version  string
	binaries []binary
	sums     map[string]string // SHA-256 by file name
}

func readDist(dist string) (release, error) {
	var meta struct{ Version string }
	if err := readJSON(filepath.Join(dist, "metadata.json"), &meta); err != nil {
		return release{}, err
	}
	var artifacts []struct {
		Path, GOOS, GOARCH, Type string
		Extra                    struct{ ID string }
	}
	if err := readJSON(filepath.Join(dist, "artifacts.json"), &artifacts); err != nil {
		return release{}, err
	}
	r := release{version: meta.Version, sums: map[string]string{}}
	for _, a := range artifacts {
		if a.Type != "Binary" || a.Extra.ID != "mcptest" {
			continue
		}
		p, err := platformOf(a.GOOS, a.GOARCH)
		if err != nil {
			return release{}, err
		}
		// The paths begin with the name of the folder.
		r.binaries = append(r.binaries, binary{p, filepath.Join(filepath.Dir(filepath.Clean(dist)), a.Path)})
	}
	text, err := os.ReadFile(filepath.Join(dist, "checksums.txt"))
	if err != nil {
		return release{}, err
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 2 {
			r.sums[f[1]] = f[0]
		}
	}
	return r, nil
}

func readJSON(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
