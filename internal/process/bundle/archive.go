package bundle

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/source"
)

// Suffix is the end of the names of bundles.
const Suffix = ".mcpb"

// The limits of a bundle. A Node.js server with its packages has about 10,000 files.
const (
	MaxEntries  = 65_536
	MaxManifest = 4 << 20
	MaxUnpacked = 4 << 30
)

// manifestName is the manifest's place in the archive.
const manifestName = "manifest.json"

// A Bundle is an archive and its manifest.
type Bundle struct {
	Name     string // as in messages
	Path     string // absolute
	Manifest *Manifest
	Signed   bool // a signature follows the archive

	files map[string]fs.FileMode // regular files, by their names in the archive
	stamp string                 // differs when the file has changed
}

// IsFile reports whether a command line is one word that names a bundle.
func IsFile(argv []string) bool {
	if len(argv) != 1 || !strings.HasSuffix(strings.ToLower(argv[0]), Suffix) {
		return false
	}
	info, err := os.Stat(argv[0])
	return err == nil && info.Mode().IsRegular()
}

// Open reads a bundle, which is called name in messages. Its result is nil if nothing can
// be known about the manifest.
func Open(file, name string) (*Bundle, source.Diagnostics) {
	b := &Bundle{Name: name, Path: file, files: map[string]fs.FileMode{}}
	if abs, err := filepath.Abs(file); err == nil {
		b.Path = abs
	}
	a, d := b.open()
	if d != nil {
		return nil, source.Diagnostics{*d}
	}
	defer a.Close()
	text, d := b.readManifest(a)
	if d != nil {
		return nil, source.Diagnostics{*d}
	}
	var ds source.Diagnostics
	b.Manifest, ds = readManifest(&source.File{Name: filepath.ToSlash(name) + "/" + manifestName, Data: text})
	if b.Manifest == nil {
		return nil, ds
	}
	return b, ds
}

// Sensitive returns the names of the options of a bundle whose values no output may show.
func Sensitive(file string) (names []string) {
	b, _ := Open(file, file)
	if b == nil {
		return nil
	}
	for _, e := range b.Manifest.Options.Entries {
		if e.Value.Sensitive {
			names = append(names, e.Key)
		}
	}
	return names
}

// newProblem returns a mistake of the archive, which has no line.
func (b *Bundle) newProblem(hint, format string, args ...any) *source.Diagnostic {
	d := source.Errorf(source.Pos{File: &source.File{Name: b.Name, Path: b.Path}}, "", format, args...)
	d.Hint = hint
	return &d
}

// archive is an open archive.
type archive struct {
	*zip.Reader
	f *os.File
}

// Close closes the file.
func (a *archive) Close() { _ = a.f.Close() }

// open opens the archive and checks its entries.
func (b *Bundle) open() (*archive, *source.Diagnostic) {
	f, err := os.Open(b.Path)
	if err != nil {
		return nil, b.newProblem(b.findNearName(), "can't read the bundle: %v", unwrapReason(err))
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		_ = f.Close()
		return nil, b.newProblem("", "can't read the bundle: %v", unwrapReason(err))
	}
	b.stamp = fmt.Sprint(b.Path, info.Size(), info.ModTime().Format(time.RFC3339Nano))
	a := &archive{f: f}
	a.Reader, b.Signed, err = readZIP(f, info.Size())
	if err != nil {
		d := b.explainNoArchive(f, info.Size(), err)
		_ = f.Close()
		return nil, d
	}
	if d := b.checkEntries(a.File); d != nil {
		_ = f.Close()
		return nil, d
	}
	return a, nil
}

// findNearName returns a hint for a file that does not exist.
func (b *Bundle) findNearName() string {
	near := source.FindNearFile(b.Path)
	if near == "" || filepath.Dir(filepath.FromSlash(near)) != filepath.Dir(b.Path) {
		return ""
	}
	return source.Suggest(filepath.ToSlash(filepath.Join(filepath.Dir(b.Name), filepath.Base(near))))
}

// unwrapReason returns an error without the name of the file.
func unwrapReason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// The signature block of a signed bundle follows the archive: a header, the length of the
// signature, the signature and a footer.
const (
	signatureHeader = "MCPB_SIG_V1"
	signatureFooter = "MCPB_SIG_END"
	maxSignature    = 1 << 20
)

// readZIP reads the directory of an archive, which a signature may follow.
func readZIP(f io.ReaderAt, size int64) (r *zip.Reader, signed bool, err error) {
	end := findSignature(f, size)
	if r, err = zip.NewReader(f, size); err != nil && end < size {
		r, err = zip.NewReader(f, end) // the reader looks for its directory near the end only
	}
	if errors.Is(err, zip.ErrInsecurePath) {
		err = nil // checkEntries says which one
	}
	return r, end < size, err
}

// findSignature returns where the signature block begins, or size.
func findSignature(f io.ReaderAt, size int64) int64 {
	tail := make([]byte, min(size, maxSignature))
	if n, err := f.ReadAt(tail, size-int64(len(tail))); n < len(tail) || err != nil && err != io.EOF {
		return size
	}
	if !bytes.HasSuffix(tail, []byte(signatureFooter)) {
		return size
	}
	at := bytes.LastIndex(tail, []byte(signatureHeader))
	if at < 0 {
		return size
	}
	return size - int64(len(tail)-at)
}

// explainNoArchive says what a file is that is no archive.
func (b *Bundle) explainNoArchive(f io.ReaderAt, size int64, err error) *source.Diagnostic {
	const pack = "mcpb pack FOLDER writes a bundle"
	head := make([]byte, 512)
	n, _ := f.ReadAt(head, 0)
	head = head[:n]
	switch {
	case size == 0:
		return b.newProblem(pack, "the file is empty: a bundle is a ZIP archive")
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return b.newProblem("download or pack it again", "the ZIP archive is cut off or damaged: %v", err)
	case bytes.HasPrefix(head, []byte("version https://git-lfs")):
		return b.newProblem("git lfs pull", "the file is a pointer of Git LFS, not a bundle")
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return b.newProblem(pack, "not a ZIP archive: it is compressed with gzip")
	case bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")):
		return b.newProblem(pack, "not a ZIP archive: it is JSON; the manifest is packed together with the server")
	case bytes.HasPrefix(bytes.TrimSpace(head), []byte("<")):
		const hint = "download it again, and look at the address"
		return b.newProblem(hint, "not a ZIP archive: it is a page of HTML or XML")
	}
	return b.newProblem(pack, "not a ZIP archive: %v", err)
}

// drive matches the beginning of a path of Windows.
var drive = lazy.Regexp(`^[A-Za-z]:`)

// checkEntries refuses archives that can't be unpacked safely or everywhere.
func (b *Bundle) checkEntries(entries []*zip.File) *source.Diagnostic {
	if len(entries) > MaxEntries {
		return b.newProblem("leave out what only the build needs: mcpb clean, .mcpbignore",
			"the archive has %d entries; at most %d are unpacked", len(entries), MaxEntries)
	}
	var total uint64
	folded := map[string]string{} // names that a system may take for one
	for _, e := range entries {
		if d := b.checkEntry(e); d != nil {
			return d
		}
		if total += e.UncompressedSize64; total > MaxUnpacked || e.UncompressedSize64 > MaxUnpacked {
			return b.newProblem("", "the archive unpacks to more than %d GiB", MaxUnpacked>>30)
		}
		if isFolder(e) {
			continue
		}
		name := cleanName(e.Name)
		key := strings.ToLower(strings.ToUpper(name))
		other, twice := folded[key]
		switch {
		case twice && other == name && name == manifestName:
			return b.newProblem("pack it again", "the archive has two manifests: readers differ in which one counts")
		case twice && other == name:
			return b.newProblem("pack it again", "the archive has two entries called %s", quoteName(name))
		case twice:
			return b.newProblem("rename one of them", "the entries %s and %s differ in case only: "+
				"on Windows and macOS one replaces the other", quoteName(other), quoteName(name))
		}
		folded[key] = name
		b.files[name] = unixMode(e)
	}
	return b.checkFolders()
}

// checkFolders refuses an entry that is a file and a folder.
func (b *Bundle) checkFolders() *source.Diagnostic {
	for name := range b.files {
		for at := path.Dir(name); at != "."; at = path.Dir(at) {
			if _, isFile := b.files[at]; isFile {
				const both = "the entry %s is a file, and the folder of %s"
				return b.newProblem("pack it again", both, quoteName(at), quoteName(name))
			}
		}
	}
	return nil
}

// checkEntry refuses one entry.
func (b *Bundle) checkEntry(e *zip.File) *source.Diagnostic {
	name := quoteName(e.Name)
	const outside = "bundles have relative names below their own folder only"
	const leads = ": it would be written outside of the bundle"
	switch {
	case e.Flags&1 != 0:
		return b.newProblem("pack it without a password", "the archive is encrypted (%s): no client can read it", name)
	case e.Name == "" || strings.ContainsFunc(e.Name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return b.newProblem("rename it", "the name of the entry %s has control characters or is empty", name)
	case drive().MatchString(e.Name):
		return b.newProblem(outside, "the entry %s begins with a drive letter"+leads, name)
	case slices.Contains(strings.FieldsFunc(e.Name, isSlash), ".."):
		return b.newProblem(outside, "the entry %s has .. in its path"+leads, name)
	case strings.HasPrefix(e.Name, "/") || strings.HasPrefix(e.Name, `\`):
		return b.newProblem(outside, "the path of the entry %s is absolute"+leads, name)
	case strings.Contains(e.Name, `\`):
		return b.newProblem("pack it with mcpb pack, which writes /",
			"the name of the entry %s has a backslash, which is a folder on Windows only", name)
	case fileType(e) == typeLink:
		return b.newProblem("mcpb pack stores the files that links lead to", "the entry %s is a symbolic link", name)
	case fileType(e) != 0 && fileType(e) != typeFile && fileType(e) != typeFolder:
		return b.newProblem("leave it out", "the entry %s is neither a file nor a folder", name)
	case e.Method != zip.Store && e.Method != zip.Deflate:
		return b.newProblem("pack it with mcpb pack", "the entry %s is compressed with method %d: "+
			"clients read stored and deflated entries", name, e.Method)
	}
	return nil
}

func isSlash(r rune) bool { return r == '/' || r == '\\' }

// quoteName returns a name for messages.
func quoteName(name string) string { return `"` + display.Escape(display.Truncate(name, 100)) + `"` }

// cleanName returns the name of an entry without ./ and doubled slashes.
func cleanName(name string) string { return path.Clean(name) }

func isFolder(e *zip.File) bool { return strings.HasSuffix(e.Name, "/") || fileType(e) == typeFolder }

// The types of entries, as Unix stores them.
const (
	typeMask   = 0o170000
	typeFile   = 0o100000
	typeFolder = 0o040000
	typeLink   = 0o120000
)

// fileType returns the type of an entry, 0 if the archive does not say it.
func fileType(e *zip.File) uint32 { return e.ExternalAttrs >> 16 & typeMask }

// unixMode returns the permissions of an entry, 0 if the archive has none.
func unixMode(e *zip.File) fs.FileMode { return fs.FileMode(e.ExternalAttrs>>16) & fs.ModePerm }

// Mode returns the permissions of a file of the bundle, 0 if the archive has none.
func (b *Bundle) Mode(name string) (mode fs.FileMode, ok bool) {
	mode, ok = b.files[cleanName(name)]
	return mode, ok
}

// readHead returns the first bytes of a file of the bundle.
func (b *Bundle) readHead(name string) string {
	if b.Path == "" {
		return "" // it was made of parts
	}
	a, d := b.open()
	if d != nil {
		return ""
	}
	defer a.Close()
	i := slices.IndexFunc(a.File, func(e *zip.File) bool { return cleanName(e.Name) == cleanName(name) })
	if i < 0 {
		return ""
	}
	r, err := a.File[i].Open()
	if err != nil {
		return ""
	}
	defer r.Close()
	first, _ := io.ReadAll(io.LimitReader(r, 4))
	return string(first)
}

// readManifest returns the text of the manifest.
func (b *Bundle) readManifest(a *archive) ([]byte, *source.Diagnostic) {
	i := slices.IndexFunc(a.File, func(e *zip.File) bool { return cleanName(e.Name) == manifestName })
	if i < 0 {
		return nil, b.explainNoManifest()
	}
	const hint = "a manifest has a few kilobytes: what the server reads belongs into files of its own"
	if size := a.File[i].UncompressedSize64; size > MaxManifest {
		return nil, b.newProblem(hint, "the manifest has %d MB; at most %d are read", size>>20, MaxManifest>>20)
	}
	r, err := a.File[i].Open()
	if err != nil {
		return nil, b.newProblem("pack it again", "can't read the manifest: %v", err)
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, MaxManifest+1))
	if err != nil {
		return nil, b.newProblem("pack it again", "can't read the manifest: %v", err)
	}
	if len(text) > MaxManifest {
		return nil, b.newProblem(hint, "the manifest has more than %d MB", MaxManifest>>20)
	}
	return text, nil
}

// explainNoManifest says where the manifest is instead.
func (b *Bundle) explainNoManifest() *source.Diagnostic {
	for name := range b.files {
		folder, isBelow := strings.CutSuffix(name, "/"+manifestName)
		if isBelow && !strings.Contains(folder, "/") && folder != "node_modules" {
			return b.newProblem("pack the content of the folder, not the folder",
				"the archive has no %s at its top; there is one in the folder %s", manifestName, quoteName(folder))
		}
		if strings.EqualFold(name, manifestName) {
			return b.newProblem("rename it", "the archive has no %s; there is %s", manifestName, quoteName(name))
		}
	}
	return b.newProblem("mcpb init writes one", "the archive has no %s", manifestName)
}
