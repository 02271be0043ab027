package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// file is one file of a package.
type file struct {
	data       []byte
	executable bool
}

// modified is the time of every file in a package: the first that zip knows.
var modified = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

func (f file) mode() fs.FileMode {
	if f.executable {
		return 0o755
	}
	return 0o644
}

// wheel packs the Python package with the program for one platform.
func (b *builder) wheel(p platform, program []byte) error {
	version := pythonVersion(b.version)
	files, err := b.legal()
	if err != nil {
		return err
	}
	page, err := b.manual()
	if err != nil {
		return err
	}
	info := "mcptest-" + version + ".dist-info/"
	files = map[string]file{
		info + "licenses/LICENSE": files["LICENSE"],
		info + "licenses/NOTICE":  files["NOTICE"],
		// pip installs these where the programs of the environment are.
		"mcptest-" + version + ".data/scripts/" + p.program():        {data: program, executable: true},
		"mcptest-" + version + ".data/data/share/man/man1/mcptest.1": page,
	}
	if err := addFolder(files, filepath.Join(b.source, "python", "mcptest"), "mcptest/"); err != nil {
		return err
	}
	readme, err := os.ReadFile(filepath.Join(b.source, "python", "README.md"))
	if err != nil {
		return err
	}
	files[info+"METADATA"] = file{data: metadata(version, b.home, readme)}
	if _, ok := files["mcptest/pytest_plugin.py"]; ok {
		files[info+"entry_points.txt"] = file{data: []byte("[pytest11]\nmcptest = mcptest.pytest_plugin\n")}
	}
	var tags strings.Builder
	for tag := range strings.SplitSeq(p.wheel, ".") {
		fmt.Fprintf(&tags, "Tag: py3-none-%s\n", tag)
	}
	files[info+"WHEEL"] = file{data: []byte("Wheel-Version: 1.0\nGenerator: mcptest\nRoot-Is-Purelib: false\n" + tags.String())}
	record := info + "RECORD"
	files[record] = file{data: recordOf(files, record)}
	data, err := zipOf(files)
	if err != nil {
		return err
	}
	return b.write("mcptest-"+version+"-py3-none-"+p.wheel+".whl", data)
}

func metadata(version, home string, readme []byte) []byte {
	var m bytes.Buffer
	m.WriteString("Metadata-Version: 2.4\nName: mcptest\nVersion: " + version +
		"\nSummary: Test tool for Model Context Protocol (MCP) servers\nLicense-Expression: Apache-2.0\n" +
		"License-File: LICENSE\nLicense-File: NOTICE\nRequires-Python: >=3.9\nKeywords: mcp,testing\n")
	if home != "" {
		m.WriteString("Project-URL: Homepage, " + home + "\n")
	}
	m.WriteString("Description-Content-Type: text/markdown\n\n")
	m.Write(readme)
	return m.Bytes()
}

// recordOf lists the files with their checksums, as the wheel format demands.
func recordOf(files map[string]file, self string) []byte {
	var out bytes.Buffer
	for _, path := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256(files[path].data)
		fmt.Fprintf(&out, "%s,sha256=%s,%d\n", path, base64.RawURLEncoding.EncodeToString(sum[:]), len(files[path].data))
	}
	fmt.Fprintf(&out, "%s,,\n", self)
	return out.Bytes()
}

func zipOf(files map[string]file) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		h := zip.FileHeader{Name: path, Method: zip.Deflate, Modified: modified}
		h.SetMode(files[path].mode())
		part, err := w.CreateHeader(&h)
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(files[path].data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

var prerelease = regexp.MustCompile(`^(\d+\.\d+\.\d+)-(alpha|beta|rc)\.?(\d+)$`)

// pythonVersion turns a semantic version into one of Python's: 1.0.0-rc.2 into
// 1.0.0rc2, and what has no equal into a development release.
func pythonVersion(v string) string {
	if m := prerelease.FindStringSubmatch(v); m != nil {
		return m[1] + map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[m[2]] + m[3]
	}
	if core, _, found := strings.Cut(v, "-"); found {
		return core + ".dev0"
	}
	return v
}
