package cli_test

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// bundlerMain runs `bundler FILE FOLDER [NAME=TEXT…]`: it packs the files of a folder, and
// further entries, which may have any name. A name that ends in @ is that of a link.
func bundlerMain() {
	if err := bundle(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func bundle(file, folder string, more []string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	w := zip.NewWriter(out)
	files := os.DirFS(folder)
	err = fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		return addEntry(w, path, 0o755, string(text))
	})
	if err != nil {
		return err
	}
	for _, word := range more {
		name, text, _ := strings.Cut(word, "=")
		mode := fs.FileMode(0o644)
		if link, isLink := strings.CutSuffix(name, "@"); isLink {
			name, mode = link, fs.ModeSymlink|0o777
		}
		if err := addEntry(w, name, mode, text); err != nil {
			return err
		}
	}
	return w.Close()
}

func addEntry(w *zip.Writer, name string, mode fs.FileMode, text string) error {
	h := &zip.FileHeader{Name: name, Method: zip.Deflate}
	h.SetMode(mode)
	entry, err := w.CreateHeader(h)
	if err == nil {
		_, err = entry.Write([]byte(text))
	}
	return err
}
