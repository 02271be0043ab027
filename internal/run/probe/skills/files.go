package skills

import (
	"context"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/offer/skill"
	"mcptest/internal/run/probe/exam"
)

// fetch reads a file.
func (e *examiner) fetch(ctx context.Context, uri string) (f *file, data []byte, mime string) {
	x := e.do(ctx, methodRead, jsonv.ObjectOf("uri", uri))
	f = &file{x: x}
	if x.Result == nil {
		f.err = exam.Answer(x)
		return f, nil, ""
	}
	data, mime, err := skill.Content(uri, exam.Result(x))
	if err != nil {
		f.err = err.Error()
	}
	f.seen = skill.Look(data)
	e.read += int64(len(data))
	x.During = nil
	return f, data, mime
}

// saysNotThere reports whether a failed request says that a file is not there, and not that this
// client must not have it.
func saysNotThere(f *file) bool {
	isAnswered := f.x.Result != nil || exam.RPCError(f.x) != nil
	return f.err != "" && isAnswered && !exam.RefusesAll(exam.Status(f.x)) && !exam.Another(f.x)
}

// examineText reads SKILL.md, and holds the frontmatter of its entries against it.
func (e *examiner) examineText(ctx context.Context, uri string, sources []source) {
	var text []byte
	var mime string
	var f *file
	subject := skill.Shown(uri)
	if e.read > mostBytes {
		e.skipped++
		return
	}
	read := func(ctx context.Context) exam.Outcome {
		isSecond := f != nil
		f, text, mime = e.fetch(ctx, uri)
		if f.err != "" && isSecond && !e.isStillListed(ctx, uri) {
			return exam.Unverified("the skill is no longer listed")
		}
		if f.err != "" && !saysNotThere(f) {
			return exam.Unverified("resources/read got %s", f.err)
		}
		return exam.BrokenIf(f.err != "", f.x, "SKILL.md cannot be read: %s", f.err)
	}
	e.check(ctx, "skill-readable", subject, read)
	if f == nil {
		read(ctx)
	}
	e.keep(uri, f)
	if f.err != "" {
		e.EnterAbout(subject, exam.Unverified("SKILL.md could not be read"), "skill-frontmatter")
		return
	}
	e.judgeType(uri, mime, f.x)
	for _, s := range sources {
		fresh := false
		e.check(ctx, "skill-frontmatter", subject, func(ctx context.Context) exam.Outcome {
			if fresh {
				return e.compareAgain(ctx, s)
			}
			fresh = true
			return judgeText(s, f.x, string(text))
		})
	}
}

// keep remembers a file, without its contents.
func (e *examiner) keep(uri string, f *file) {
	kept := *f
	if f.err == "" {
		kept.x = nil
	}
	e.files[skill.Identity(uri)] = &kept
}

// judgeText holds the frontmatter of an entry against the text of SKILL.md.
func judgeText(s source, x *mcp.Exchange, text string) exam.Outcome {
	c := s.entry.CompareFrontmatter(text)
	switch {
	case c.Unknown != "":
		return exam.Unverified("%s", c.Unknown)
	case c.Problem != "":
		o := exam.Broken(x, "%s", c.Problem)
		o.Evidence = append(o.Evidence, makeEvidence(s.method, s.entry.Def))
		return o
	}
	return exam.Held()
}

// compareAgain requests an entry and its SKILL.md again, and compares them.
func (e *examiner) compareAgain(ctx context.Context, s source) exam.Outcome {
	entry, why := e.refresh(ctx, s)
	if why != "" {
		return exam.Unverified("%s", why)
	}
	f, text, _ := e.fetch(ctx, entry.URI)
	if f.err != "" {
		return exam.Unverified("resources/read got %s", f.err)
	}
	return judgeText(source{s.method, entry}, f.x, string(text))
}

// examineFiles reads the files of a manifest, and compares them with it.
func (e *examiner) examineFiles(ctx context.Context, s source) {
	for _, listed := range s.entry.Files {
		if listed.URI == "" {
			continue
		}
		id := skill.Identity(listed.URI)
		got := e.files[id]
		if got == nil {
			if len(e.files) >= mostFiles || e.read+max(listed.Size, 0) > mostBytes || ctx.Err() != nil {
				e.skipped++
				continue
			}
			got, _, _ = e.fetch(ctx, listed.URI)
			e.keep(listed.URI, got)
		}
		switch {
		case got.err == "":
			e.compare(ctx, s, listed, got)
		case id != skill.Identity(s.entry.URI):
			e.examineUnread(ctx, s, listed, got)
		}
	}
}

// examineUnread looks again at a file that could not be read.
func (e *examiner) examineUnread(ctx context.Context, s source, listed skill.File, got *file) {
	first := got
	e.check(ctx, "skill-file-readable", skill.Shown(listed.URI), func(ctx context.Context) exam.Outcome {
		f := first
		if first = nil; f == nil {
			entry, why := e.refresh(ctx, s)
			if why != "" {
				return exam.Unverified("%s", why)
			}
			if _, still := entry.Find(listed.URI); !still {
				return exam.Unverified("the file is gone from the manifest")
			}
			f, _, _ = e.fetch(ctx, listed.URI)
		}
		if f.err != "" && !saysNotThere(f) {
			return exam.Unverified("resources/read got %s", f.err)
		}
		return exam.BrokenIf(f.err != "", f.x, "the file is listed, but reading it got %s", f.err)
	})
}

// compare holds a file against its entry in the manifest. One that differs is requested
// again, with its entry: it may have changed in between.
func (e *examiner) compare(ctx context.Context, s source, listed skill.File, got *file) {
	if len(listed.Compare(got.seen)) == 0 {
		e.Enter(exam.Held(), "skill-file-readable", "skill-digest")
		return
	}
	if e.second++; e.second > mostFiles || e.failures["skill-digest"] >= mostFailures {
		e.skipped++
		return
	}
	subject := skill.Shown(listed.URI)
	entry, why := e.refresh(ctx, s)
	if why != "" {
		e.EnterAbout(subject, exam.Unverified("the file differs from its entry once: %s", why), "skill-digest")
		return
	}
	now, still := entry.Find(listed.URI)
	fresh, _, _ := e.fetch(ctx, listed.URI)
	switch {
	case !still || fresh.err != "":
		e.EnterAbout(subject, exam.Unverified("the file changed between two requests"), "skill-digest")
		return
	case len(now.Compare(fresh.seen)) == 0:
		const why = "not repeatable: the file differed from its entry, but not when both were requested again"
		e.EnterAbout(subject, exam.Unverified(why), "skill-digest")
		return
	}
	for _, f := range now.Compare(fresh.seen) {
		evidence := makeEvidence(s.method, now.Def)
		if e.failures[f.Rule]++; e.failures[f.Rule] <= mostFailures {
			o := exam.Broken(fresh.x, "%s", f.Message)
			o.Evidence = append(o.Evidence, evidence)
			e.EnterAbout(f.Subject, o, f.Rule)
		}
	}
}

// judgeType judges the type that SKILL.md was read with, unless the list of resources has it.
func (e *examiner) judgeType(uri, mime string, x *mcp.Exchange) {
	if mime == "" {
		if listed, ok := e.findResource(uri); ok && !listed.Lookup("mimeType").IsAbsent() {
			return
		}
	}
	o := exam.BrokenIf(!isMarkdown(mime), x, "the type is %q, expected text/markdown", mime)
	e.EnterAbout(skill.Shown(uri), o, "skill-mime")
}

func isMarkdown(mime string) bool {
	kind, _, _ := strings.Cut(mime, ";")
	return strings.EqualFold(strings.TrimSpace(kind), "text/markdown")
}

// findResource returns the entry of resources/list for a URI.
func (e *examiner) findResource(uri string) (jsonv.Value, bool) {
	id := skill.Identity(uri)
	for _, def := range e.Resources {
		if skill.Identity(def.Lookup("uri").Text()) == id {
			return def, true
		}
	}
	return jsonv.Value{}, false
}

// examineResources compares the entries of resources/list with those of skills.
func (e *examiner) examineResources(context.Context) {
	if len(e.Resources) == 0 {
		return
	}
	byID := make(map[string]jsonv.Value, len(e.Resources))
	for _, def := range e.Resources {
		byID[skill.Identity(def.Lookup("uri").Text())] = def
	}
	for _, one := range e.listed.entries {
		def, ok := byID[skill.Identity(one.URI)]
		if !ok {
			continue
		}
		e.Enter(exam.Held(), "skill-mime", "skill-resource-name", "skill-resource-description")
		at := skill.Shown(one.URI)
		expect := func(rule, key string, isRight bool) {
			if !isRight {
				message := key + " of the resource is " + def.Lookup(key).OrNull().Short(100)
				e.fail(skill.Finding{Rule: rule, Subject: at, Message: message}, makeEvidence("resources/list", def))
			}
		}
		expect("skill-mime", "mimeType", isMarkdown(def.Lookup("mimeType").Text()))
		for _, key := range []string{"name", "description"} {
			own := one.Frontmatter.Lookup(key)
			expect("skill-resource-"+key, key, own.IsAbsent() || isSameText(def.Lookup(key), own))
		}
	}
}

// isSameText compares two values; blanks around a text do not count, which the block scalars of
// YAML end with, and libraries remove.
func isSameText(a, b jsonv.Value) bool {
	if a.Kind() == jsonv.KindString && b.Kind() == jsonv.KindString {
		return strings.TrimSpace(a.Text()) == strings.TrimSpace(b.Text())
	}
	return jsonv.Equal(a, b)
}
