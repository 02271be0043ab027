package cli

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/report"
	"mcptest/internal/report/compare"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// foundRecord is a file that begins as the record of a run does.
type foundRecord struct {
	path    string
	started time.Time
}

// mostRecords limits how many files of a folder are examined.
const mostRecords = 200

// findSinceEarlier returns the options of the pages among the reports of a run: what changed
// since the record of an earlier run of the same suites that is in the page's folder, or
// that one of the reports is about to replace. It must be called before reports are written.
func findSinceEarlier(specs []report.Spec, run *result.Run) changesOfPage {
	page := findHTMLFile(specs)
	if page == "" {
		return changesOfPage{}
	}
	paths := listRecords(filepath.Dir(page))
	for _, sp := range specs {
		isRecord := sp.Format.Name == "json" || sp.Format.Name == "ndjson"
		if isRecord && sp.Path != "" && !slices.Contains(paths, sp.Path) {
			paths = append(paths, sp.Path)
		}
	}
	var found []foundRecord
	for _, path := range paths {
		if started, ok := startOf(path, run); ok {
			found = append(found, foundRecord{path, started})
		}
	}
	slices.SortFunc(found, func(a, b foundRecord) int { return b.started.Compare(a.started) })
	for _, f := range found {
		if o, ok := f.compareWith(run); ok {
			return changesOfPage{o}
		}
	}
	return changesOfPage{}
}

// changesOfPage are the options of a page that say what changed.
type changesOfPage struct{ options render.Options }

// selectFor returns the options of one report.
func (c changesOfPage) selectFor(spec report.Spec, verbose bool) render.Options {
	o := render.Options{}
	if spec.Format.Name == "html" {
		o = c.options
	}
	o.Verbose = verbose
	return o
}

// findHTMLFile returns the file of the HTML report, or "".
func findHTMLFile(specs []report.Spec) string {
	for _, sp := range specs {
		if sp.Format.Name == "html" {
			return sp.Path
		}
	}
	return ""
}

// listRecords lists the files of a folder that may be records.
func listRecords(dir string) (paths []string) {
	folder, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer folder.Close()
	entries, err := folder.ReadDir(-1)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if e.Type().IsRegular() && (ext == ".json" || ext == ".ndjson") && len(paths) < mostRecords {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}

// startOf returns when the run of a record began, if it is one of the same suites as the
// later run, and began before it.
func startOf(path string, later *result.Run) (time.Time, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // a pipe would wait
		return time.Time{}, false
	}
	file, err := os.Open(path)
	if err != nil {
		return time.Time{}, false
	}
	defer file.Close()
	const longestHead = 1 << 20
	head, err := result.ReadHead(io.LimitReader(file, longestHead))
	if err != nil || !head.Started.Before(later.Started) || !isSameSuites(head.Suites, later.Suites) {
		return time.Time{}, false
	}
	return head.Started, true
}

// isSameSuites reports whether two runs are of the same files.
func isSameSuites(a, b []result.Suite) bool {
	return slices.EqualFunc(a, b, func(a, b result.Suite) bool { return a.File == b.File })
}

// compareWith compares the record with a later run. ok is false if it can't be read, is not
// that of a whole run, or is that of another part.
func (f foundRecord) compareWith(later *result.Run) (o render.Options, ok bool) {
	file, err := os.Open(f.path)
	if err != nil {
		return o, false
	}
	defer file.Close()
	run, err := result.Read(file)
	if err != nil {
		return o, false
	}
	defer run.Close()
	if run.DescribeUnfinished() != "" || run.Summary.Total == 0 || !isSamePart(run.Shard, later.Shard) {
		return o, false
	}
	c, err := compare.Runs(run, later, compare.Options{})
	if err != nil {
		return o, false
	}
	o = c.Page()
	o.Earlier = term.Escape(filepath.Base(f.path)) + ", " + f.started.UTC().Format("2 January 2006, 15:04:05 UTC") +
		", " + display.Count(run.Summary.Total, "test")
	return o, true
}

// isSamePart reports whether two records are the same part of their runs.
func isSamePart(a, b *result.Shard) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Index == b.Index && a.Total == b.Total && a.Digest == b.Digest
}
