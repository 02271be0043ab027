package skill

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
)

// A Finding is how an entry breaks a rule.
type Finding struct {
	Rule    string
	Subject string // the URI of the skill or of a file
	Message string
}

// mostShown is the number of findings of one rule in one entry.
const mostShown = 10

// The lengths that the Agent Skills specification allows, in characters.
const (
	mostName        = 64
	mostDescription = 1024
)

// The limits that every host supports.
const (
	mostFiles = 512
	mostBytes = 16 << 20
)

// mostNested is how many directories above a skill are looked at.
const mostNested = 64

// findings are collected about one entry.
type findings struct {
	of   string
	list []Finding
	n    map[string]int // by rule
}

func (f *findings) add(rule, uri, format string, args ...any) {
	if f.n == nil {
		f.n = map[string]int{}
	}
	if f.n[rule]++; f.n[rule] <= mostShown {
		f.list = append(f.list, Finding{rule, Shown(uri), fmt.Sprintf(format, args...)})
	}
}

// listAll returns the findings; those that are left out are counted.
func (f *findings) listAll() []Finding {
	for rule, n := range f.n {
		if n > mostShown {
			f.list = append(f.list, Finding{rule, Shown(f.of), fmt.Sprintf("and %d more", n-mostShown)})
		}
	}
	slices.SortStableFunc(f.list, func(a, b Finding) int { return strings.Compare(a.Rule, b.Rule) })
	return f.list
}

// Judge returns the rules that an entry breaks by itself.
func (e Entry) Judge() []Finding {
	f := &findings{of: e.URI}
	e.judgeForm(f)
	e.judgeName(f)
	e.judgeDescription(f)
	e.judgeURI(f)
	if e.Def.Lookup("resources").Kind() == jsonv.KindArray {
		e.judgeManifest(f)
		e.judgeLimits(f)
	}
	return f.listAll()
}

// judgeForm looks for what every entry has.
func (e Entry) judgeForm(f *findings) {
	const rule = "skill-entry"
	if e.Def.Kind() != jsonv.KindObject {
		f.add(rule, "", "the entry is %s, expected an object", e.Def.Kind().WithArticle())
		return
	}
	if e.URI == "" {
		f.add(rule, "", "the entry has no uri")
	}
	if e.Frontmatter.Kind() != jsonv.KindObject {
		f.add(rule, e.URI, "frontmatter is %s, expected an object", e.Frontmatter.OrNull().Short(40))
	} else {
		for _, key := range []string{"name", "description"} {
			if v := e.Frontmatter.Lookup(key); v.Kind() != jsonv.KindString {
				f.add(rule, e.URI, "frontmatter.%s is %s, expected text", key, v.OrNull().Short(40))
			}
		}
	}
	resources := e.Def.Lookup("resources")
	switch {
	case resources.IsAbsent():
		f.add(rule, e.URI, "the entry has no resources: neither a list of files nor \"dynamic\"")
	case resources.Kind() != jsonv.KindArray && !e.Dynamic:
		const form = "resources is %s, expected a list of files or \"dynamic\""
		f.add(rule, e.URI, form, resources.Short(40))
	}
}

// judgeName judges the name by the lenient reading of the Agent Skills specification: letters
// of every script are lowercase if they are not uppercase.
func (e Entry) judgeName(f *findings) {
	v := e.Frontmatter.Lookup("name")
	if v.Kind() != jsonv.KindString {
		return
	}
	const rule = "skill-name"
	name := v.Text()
	shown := v.Short(80)
	n := utf8.RuneCountInString(name)
	switch {
	case n == 0 || strings.TrimSpace(name) == "":
		f.add(rule, e.URI, "the name is empty")
		return
	case n > mostName:
		f.add(rule, e.URI, "the name has %d characters, at most %d are allowed", n, mostName)
	}
	for _, r := range name {
		switch {
		case unicode.IsUpper(r) || unicode.IsTitle(r):
			f.add(rule, e.URI, "the name %s has the uppercase letter %q", shown, r)
			return
		case r != '-' && !unicode.In(r, unicode.L, unicode.M, unicode.N):
			const form = "the name %s has the character %q: only lowercase letters, digits and hyphens are allowed"
			f.add(rule, e.URI, form, shown, r)
			return
		}
	}
	switch {
	case strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-"):
		f.add(rule, e.URI, "the name %s begins or ends with a hyphen", shown)
	case strings.Contains(name, "--"):
		f.add(rule, e.URI, "the name %s has two hyphens in a row", shown)
	}
}

func (e Entry) judgeDescription(f *findings) {
	v := e.Frontmatter.Lookup("description")
	if v.Kind() != jsonv.KindString {
		return
	}
	n := utf8.RuneCountInString(v.Text())
	switch {
	case strings.TrimSpace(v.Text()) == "":
		f.add("skill-description", e.URI, "the description is empty")
	case n > mostDescription:
		const form = "the description has %d characters, at most %d are allowed"
		f.add("skill-description", e.URI, form, n, mostDescription)
	}
}

func (e Entry) judgeURI(f *findings) {
	if e.URI == "" {
		return
	}
	_, last, ok := findRoot(e.URI)
	if !ok {
		f.add("skill-uri", e.URI, "the URI is not that of a file SKILL.md in a directory: …/name/SKILL.md")
		return
	}
	name := e.Frontmatter.Lookup("name")
	if name.Kind() == jsonv.KindString && name.Text() != last && strings.TrimSpace(name.Text()) != "" {
		const form = "the directory is %s, but the name is %s"
		f.add("skill-name-path", e.URI, form, jsonv.String(last).Short(80), name.Short(80))
	}
}

var digestForm = lazy.Regexp(`^sha256:[0-9a-f]{64}$`)

// judgeManifest judges the list of files.
func (e Entry) judgeManifest(f *findings) {
	const rule = "skill-manifest"
	root, _, hasRoot := findRoot(e.URI)
	self := Identity(e.URI)
	seen := make(map[string]bool, len(e.Files))
	for i, file := range e.Files {
		at := file.URI
		if at == "" {
			at = e.URI
			f.add(rule, at, "entry %d of resources has no uri", i)
		} else {
			id := Identity(file.URI)
			if seen[id] {
				f.add(rule, at, "the file is listed more than once")
			}
			seen[id] = true
			if hasRoot && (!strings.HasPrefix(id, root+"/") || id == root+"/") {
				f.add(rule, at, "the file is not within the directory of the skill %s", Shown(e.URI))
			}
		}
		file.judge(f, at)
	}
	if e.URI != "" && !seen[self] {
		f.add(rule, e.URI, "resources has no entry for SKILL.md itself")
	}
}

// judge judges the digest and the size of one file.
func (file File) judge(f *findings, at string) {
	digest, size := file.Def.Lookup("digest"), file.Def.Lookup("size")
	switch {
	case digest.IsAbsent():
		f.add("skill-digest-format", at, "the file has no digest")
	case !digestForm().MatchString(file.Digest):
		const form = "the digest is %s, expected sha256: and 64 lowercase hexadecimal characters"
		f.add("skill-digest-format", at, form, digest.Short(90))
	}
	switch {
	case size.IsAbsent():
		f.add("skill-size", at, "the file has no size")
	case file.Size < 0:
		f.add("skill-size", at, "the size is %s, expected a number of bytes", size.Short(40))
	}
}

func (e Entry) judgeLimits(f *findings) {
	if n := len(e.Files); n > mostFiles {
		f.add("skill-limits", e.URI, "the skill has %d files, hosts need not support more than %d", n, mostFiles)
	}
	total := int64(0)
	for _, file := range e.Files {
		if file.Size > 0 && total <= mostBytes {
			total += min(file.Size, mostBytes+1)
		}
	}
	if total > mostBytes {
		const form = "the files of the skill have more than %s bytes, hosts need not support more"
		f.add("skill-limits", e.URI, form, display.Thousands(mostBytes))
	}
}

// JudgeAll returns the rules that the entries of one listing break together.
func JudgeAll(entries []Entry) []Finding {
	f := &findings{}
	byName := map[string]string{} // the first URI
	for _, e := range entries {
		name := e.Frontmatter.Lookup("name").Text()
		first, known := byName[name]
		switch {
		case name == "":
		case !known:
			byName[name] = e.URI
		case Identity(first) != Identity(e.URI):
			shown := jsonv.String(name).Short(80)
			f.add("skill-duplicate-name", e.URI, "the name %s is also that of %s", shown, Shown(first))
		}
	}
	judgeNested(f, entries)
	return f.listAll()
}

// judgeNested looks whether the files of a skill within another one are listed by that one,
// too: they are supporting files of it.
func judgeNested(f *findings, entries []Entry) {
	roots := map[string]int{} // entries with a manifest, by directory
	for i, e := range entries {
		if root, _, ok := findRoot(e.URI); ok && len(e.Files) > 0 {
			roots[root] = i
		}
	}
	listed := map[int]map[string]bool{}
	for _, inner := range entries {
		root, _, ok := findRoot(inner.URI)
		for level := 0; ok && level < mostNested; level++ {
			slash := strings.LastIndexByte(root, '/')
			if ok = slash > 0; !ok {
				break
			}
			root = root[:slash]
			at, nested := roots[root]
			if !nested {
				continue
			}
			if listed[at] == nil {
				listed[at] = listIDs(entries[at])
			}
			reportUnlisted(f, entries[at], inner, listed[at])
		}
	}
}

func listIDs(e Entry) map[string]bool {
	out := make(map[string]bool, len(e.Files))
	for _, file := range e.Files {
		out[Identity(file.URI)] = true
	}
	return out
}

func reportUnlisted(f *findings, outer, inner Entry, listed map[string]bool) {
	for _, file := range inner.Files {
		if file.URI != "" && !listed[Identity(file.URI)] {
			const form = "resources has no entry for %s, a file of a skill within the directory"
			f.add("skill-manifest", outer.URI, form, Shown(file.URI))
			return
		}
	}
}
