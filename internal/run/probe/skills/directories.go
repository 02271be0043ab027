package skills

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/skill"
	"mcptest/internal/run/probe/exam"
)

// directoryType is the type of a directory.
const directoryType = "inode/directory"

// directory is a directory that a manifest has.
type directory struct {
	uri      string
	of       skill.Entry
	children map[string]string // by identity: the URI as the manifest has it
	folders  map[string]bool   // the children that are directories
}

// examineDirectories reads the directories of skills, if the server declares that it can.
func (e *examiner) examineDirectories(ctx context.Context) {
	if !e.declared.Lookup("extensions", skill.Extension, "directoryRead").Bool() {
		undeclared := exam.Inapplicable("the server does not declare directoryRead")
		e.Enter(undeclared, "skill-directory", "skill-directory-error", "skill-directory-children")
		return
	}
	n := 0
	for i, one := range e.listed.entries {
		if i == mostSkills || ctx.Err() != nil {
			break
		}
		if !strings.HasSuffix(one.URI, "/SKILL.md") {
			continue
		}
		for _, d := range listDirectories(one) {
			if n++; n > mostDirectories {
				e.withheld++
				continue
			}
			e.examineDirectory(ctx, d)
		}
	}
	e.examineNoDirectory(ctx)
}

// listDirectories returns the directories of a skill that its manifest shows, its own first.
func listDirectories(one skill.Entry) (out []directory) {
	root := one.Directory()
	at := map[string]int{root: 0}
	out = append(out, newDirectory(root, one))
	for _, f := range one.Files {
		inside, ok := strings.CutPrefix(f.URI, root+"/")
		if !ok || inside == "" {
			continue
		}
		parts := strings.Split(inside, "/")
		if len(parts) > mostDirectories || slices.ContainsFunc(parts, isNoName) {
			continue
		}
		above := root
		for i, part := range parts {
			child := above + "/" + part
			parent := out[at[above]]
			parent.children[skill.Identity(child)] = child
			if i == len(parts)-1 {
				break
			}
			parent.folders[skill.Identity(child)] = true
			if _, known := at[child]; !known {
				if len(out) > mostDirectories*mostSkills {
					break
				}
				at[child] = len(out)
				out = append(out, newDirectory(child, one))
			}
			above = child
		}
	}
	return out
}

// isNoName reports whether a segment of a path names nothing.
func isNoName(part string) bool { return part == "" || part == "." || part == ".." }

func newDirectory(uri string, of skill.Entry) directory {
	return directory{uri: uri, of: of, children: map[string]string{}, folders: map[string]bool{}}
}

// readDirectory reads the pages of a directory.
func (e *examiner) readDirectory(ctx context.Context, uri string) *pager {
	p := &pager{method: methodDirectory, member: "resources", params: jsonv.ObjectOf("uri", uri)}
	p.see = func(x *mcp.Exchange, _ []jsonv.Value) { e.judgeResult(x, methodDirectory) }
	p.run(ctx, e.do)
	return p
}

// examineDirectory reads one directory, and compares it with the manifest.
func (e *examiner) examineDirectory(ctx context.Context, d directory) {
	var p *pager
	subject := skill.Shown(d.uri)
	read := func(ctx context.Context) exam.Outcome {
		if p != nil { // the second sighting
			if why := e.explainGone(ctx, d); why != "" {
				return exam.Unverified("%s", why)
			}
		}
		p = e.readDirectory(ctx, d.uri)
		x := p.first
		switch {
		case exam.NotFound(x), exam.GotCode(x, protocol.CodeInvalidParams):
			return exam.Broken(x, "directoryRead is declared, but reading the directory of a skill got %s", exam.Answer(x))
		case x.Result == nil:
			return exam.Unverified("resources/directory/read got %s", exam.Answer(x))
		}
		return exam.Held()
	}
	e.check(ctx, "skill-directory", subject, read)
	if p == nil {
		read(ctx)
	}
	if p.first.Result == nil {
		return
	}
	e.examinePages(subject, p)
	if p.cut || p.loop != "" || p.broken != nil {
		e.EnterAbout(subject, exam.Unverified("the directory was not read to its end"), "skill-directory-children")
		return
	}
	e.check(ctx, "skill-directory-children", subject, func(ctx context.Context) exam.Outcome {
		now, current := p, d
		if p = nil; now == nil { // the second sighting, with the manifest of now
			now = e.readDirectory(ctx, d.uri)
			var unknown string
			if current, unknown = e.readCurrent(ctx, d); unknown != "" {
				return exam.Unverified("%s", unknown)
			}
		}
		why := current.describeMissing(now.items)
		return exam.BrokenIf(why != "", now.first, "%s", why)
	})
}

// explainGone says why a directory may be gone, "" if the manifest still has it.
func (e *examiner) explainGone(ctx context.Context, d directory) string {
	entry, unknown := e.refresh(ctx, source{methodGet, d.of})
	if unknown != "" {
		return unknown
	}
	isOwn := func(one directory) bool { return one.uri == d.uri }
	if !slices.ContainsFunc(listDirectories(entry), isOwn) {
		return "the directory is gone from the manifest"
	}
	return ""
}

// readCurrent returns a directory as the manifest of now has it, or why that is not known.
func (e *examiner) readCurrent(ctx context.Context, d directory) (now directory, unknown string) {
	entry, unknown := e.refresh(ctx, source{methodGet, d.of})
	if unknown != "" {
		return now, unknown
	}
	for _, one := range listDirectories(entry) {
		if one.uri == d.uri {
			return one, ""
		}
	}
	return newDirectory(d.uri, d.of), ""
}

// describeMissing says what a directory lacks. More than the manifest has is right: the two views may
// have been taken at different times.
func (d directory) describeMissing(items []jsonv.Value) string {
	types := map[string]string{}
	for _, item := range items {
		types[strings.TrimSuffix(skill.Identity(item.Lookup("uri").Text()), "/")] = item.Lookup("mimeType").Text()
	}
	for _, id := range slices.Sorted(keysOf(d.children)) {
		kind, listed := types[id]
		switch {
		case !listed:
			return "the directory lacks " + skill.Shown(d.children[id]) + ", which the manifest has"
		case d.folders[id] && kind != directoryType:
			const form = "the directory %s has the type %s, expected %s"
			return fmt.Sprintf(form, skill.Shown(d.children[id]), jsonv.String(kind).Short(60), directoryType)
		}
	}
	return ""
}

func keysOf(m map[string]string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// examineNoDirectory reads what does not exist, and what is a file.
func (e *examiner) examineNoDirectory(ctx context.Context) {
	const rule = "skill-directory-error"
	expect := func(subject, uri string) {
		e.check(ctx, rule, subject, func(ctx context.Context) exam.Outcome {
			x := e.do(ctx, methodDirectory, jsonv.ObjectOf("uri", uri))
			if exam.NotFound(x) {
				return exam.Unverified("resources/directory/read is not implemented")
			}
			return expectRefusal(x, methodDirectory, uri)
		})
	}
	expect("what does not exist", "skill://"+e.inventName("directory"))
	for _, one := range e.listed.entries {
		if strings.HasSuffix(one.URI, "/SKILL.md") {
			expect("what does not exist in a skill", one.Directory()+"/"+e.inventName("directory"))
			expect("a file", one.URI)
			return
		}
	}
}
