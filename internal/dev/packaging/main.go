package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("packaging", flag.ExitOnError)
	version := flags.String("version", "0.0.0-dev", "version of the packages, without v")
	dist := flags.String("dist", "", "folder that goreleaser filled; without it the program is compiled for this platform")
	out := flags.String("out", "dist/packages", "folder for the packages; with -sbom the file")
	url := flags.String("release-url", "", "address of the folder with the release's archives: also write the Homebrew formula")
	home := flags.String("homepage", "", "address of the project, for the packages")
	sbom := flags.String("sbom", "", "only list the modules of this program")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if *sbom != "" {
		return writeSBOM(*sbom, *out)
	}
	b := builder{version: *version, home: *home, out: *out, source: "packaging"}
	if err := b.clear(); err != nil {
		return err
	}
	if *dist == "" {
		return b.compiledHere()
	}
	return b.fromDist(*dist, *url)
}

// builder writes packages of one version to a folder.
type builder struct {
	version string
	home    string
	out     string
	source  string // the folder packaging of the project
	written []string
}

// clear removes the packages of an earlier build, whose platforms or version may
// be other ones: npm refuses to install all packages of the folder then.
func (b *builder) clear() error {
	for _, pattern := range []string{"mcptest-*.tgz", "mcptest-*.whl", "mcptest.rb"} {
		old, err := filepath.Glob(filepath.Join(b.out, pattern))
		if err != nil {
			return err
		}
		for _, path := range old {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// compiledHere builds the packages of this platform.
func (b *builder) compiledHere() error {
	bin, err := compile(filepath.Join(b.out, "build"))
	if err != nil {
		return err
	}
	return b.packages([]binary{bin})
}

// fromDist builds the packages of all platforms.
func (b *builder) fromDist(dist, url string) error {
	r, err := readDist(dist)
	if err != nil {
		return err
	}
	b.version = r.version
	if len(r.binaries) != len(platforms) {
		return fmt.Errorf("%s has the program for %d platforms, expected %d", dist, len(r.binaries), len(platforms))
	}
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return err
	}
	if url != "" {
		text, err := formula(filepath.Join(b.source, "homebrew", "mcptest.rb.tmpl"), b.home, url, r)
		if err != nil {
			return err
		}
		if err := b.write("mcptest.rb", text); err != nil {
			return err
		}
	}
	return b.packages(r.binaries)
}

func (b *builder) packages(binaries []binary) error {
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return err
	}
	for _, bin := range binaries {
		program, err := os.ReadFile(bin.path)
		if err != nil {
			return err
		}
		if err := errors.Join(b.npmPlatform(bin.platform, program), b.wheel(bin.platform, program)); err != nil {
			return err
		}
	}
	if err := b.npmMain(); err != nil {
		return err
	}
	return b.checksums()
}

// write adds a file to the folder of packages.
func (b *builder) write(name string, data []byte) error {
	b.written = append(b.written, name)
	return os.WriteFile(filepath.Join(b.out, name), data, 0o644)
}

// checksums lists the packages as sha256sum does.
func (b *builder) checksums() error {
	slices.Sort(b.written)
	var lines strings.Builder
	for _, name := range b.written {
		data, err := os.ReadFile(filepath.Join(b.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(data), name)
		fmt.Println(filepath.Join(b.out, name))
	}
	return os.WriteFile(filepath.Join(b.out, "checksums.txt"), []byte(lines.String()), 0o644)
}
