package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/schemas"
)

// npmPlatform packs the program for one platform.
func (b *builder) npmPlatform(p platform, program []byte) error {
	manifest, err := json.MarshalIndent(map[string]any{
		"name":        p.npmName(),
		"version":     b.version,
		"description": "The program mcptest for " + p.os + " on " + p.cpu,
		"license":     "Apache-2.0",
		"os":          []string{p.os},
		"cpu":         []string{p.cpu},
		// Package managers that keep packages in archives cannot start programs there.
		"preferUnplugged": true,
	}, "", "  ")
	if err != nil {
		return err
	}
	files, err := b.legal()
	if err != nil {
		return err
	}
	files["package.json"] = file{data: manifest}
	files["bin/"+p.program()] = file{data: program, executable: true}
	return b.tarball("mcptest-"+p.os+"-"+p.cpu, files)
}

// npmMain packs the launcher, which depends on the packages of all platforms.
func (b *builder) npmMain() error {
	files, err := b.legal()
	if err != nil {
		return err
	}
	if err := addFolder(files, filepath.Join(b.source, "npm", "mcptest"), ""); err != nil {
		return err
	}
	var manifest map[string]any
	if err := json.Unmarshal(files["package.json"].data, &manifest); err != nil {
		return err
	}
	optional := map[string]string{}
	for _, p := range platforms {
		optional[p.npmName()] = b.version
	}
	manifest["version"], manifest["optionalDependencies"] = b.version, optional
	page, err := b.manual()
	if err != nil {
		return err
	}
	files["man/mcptest.1"], manifest["man"] = page, []string{"./man/mcptest.1"}
	if b.home != "" {
		manifest["homepage"] = b.home
	}
	data, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return err
	}
	files["package.json"] = file{data: data}
	files["schema.json"] = file{data: schemas.V1}
	return b.tarball("mcptest", files)
}

// tarball writes an npm package.
func (b *builder) tarball(name string, files map[string]file) error {
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(zip)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		f := files[path]
		h := tar.Header{
			Name:    "package/" + path,
			Mode:    int64(f.mode()),
			Size:    int64(len(f.data)),
			ModTime: modified,
			Format:  tar.FormatUSTAR,
		}
		if err := w.WriteHeader(&h); err != nil {
			return err
		}
		if _, err := w.Write(f.data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	return b.write(name+"-"+b.version+".tgz", out.Bytes())
}

// legal returns the files that every package has.
func (b *builder) legal() (map[string]file, error) {
	files := map[string]file{}
	for _, name := range []string{"LICENSE", "NOTICE"} {
		data, err := os.ReadFile(filepath.Join(b.source, "..", name))
		if err != nil {
			return nil, err
		}
		files[name] = file{data: data}
	}
	return files, nil
}

// manual returns the manual page.
func (b *builder) manual() (file, error) {
	data, err := os.ReadFile(filepath.Join(b.source, "..", "docs", "man", "mcptest.1"))
	return file{data: data}, err
}

// addFolder adds what is in a folder of the project, without what Python and
// npm leave there.
func addFolder(files map[string]file, dir, prefix string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if e.Name() == "__pycache__" || e.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		files[prefix+name] = file{data: data, executable: strings.HasPrefix(name, "bin/")}
		return nil
	})
}
