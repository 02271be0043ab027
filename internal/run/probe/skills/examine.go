package skills

import (
	"context"
	"fmt"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/skill"
	"mcptest/internal/run/probe/exam"
)

// Examine examines what the server says of skills, and their files.
func Examine(ctx context.Context, v *exam.Visit) {
	if !v.Modern() {
		noteSession(v)
		return
	}
	e := &examiner{Visit: v, failures: map[string]int{}, files: map[string]*file{}}
	e.caps = withExtension(v.Pinned.Client.Declares)
	e.declared = v.Caps
	if !v.HasExtension(skill.Extension) {
		e.declared = e.requestCapabilities(ctx)
		if e.declared.Lookup("extensions", skill.Extension).IsAbsent() {
			e.askUndeclared(ctx)
			return
		}
		v.Shown = append(v.Shown, skill.Extension)
	}
	v.Enter(exam.Inapplicable("the extension is declared"), "skill-undeclared")
	v.State(ctx, "skill-capability", "", exam.BrokenIf(e.declared.Lookup("resources").IsAbsent(), v.Hello,
		"the server declares %s, but not the capability resources", skill.Extension))
	e.examineList(ctx)
	e.examineUnknown(ctx)
	e.examineSkills(ctx)
	e.examineResources(ctx)
	e.examineDirectories(ctx)
	e.enterLeft()
}

// noteSession notes that a session of an earlier revision declares the extension.
func noteSession(v *exam.Visit) {
	if v.HasExtension(skill.Extension) {
		o := exam.Inapplicable("the extension is defined for 2026-07-28, not for %s", v.Version.Name)
		const form = "a session of %s declares %s, which is defined for 2026-07-28 or later: " +
			"clients of sessions do not ask for skills"
		o.Note = fmt.Sprintf(form, v.Version.Name, skill.Extension)
		v.Add("skill-list", "", o)
	}
}

// withExtension adds skills to the capabilities of a client.
func withExtension(caps jsonv.Value) jsonv.Value {
	if caps.Kind() != jsonv.KindObject {
		caps = jsonv.Object()
	}
	extensions := caps.Lookup("extensions")
	if extensions.Kind() != jsonv.KindObject {
		extensions = jsonv.Object()
	}
	if extensions.Lookup(skill.Extension).IsAbsent() {
		extensions = extensions.With(skill.Extension, jsonv.Object())
	}
	return caps.With("extensions", extensions)
}

// requestCapabilities returns those that the server declares to a client that declares the extension.
func (e *examiner) requestCapabilities(ctx context.Context) jsonv.Value {
	x := e.do(ctx, protocol.MethodDiscover, jsonv.Object())
	return exam.Result(x).Lookup("capabilities")
}

// askUndeclared asks a server that does not declare the extension for skills, if its user asked
// for this family.
func (e *examiner) askUndeclared(ctx context.Context) {
	if !e.Named("skills") {
		return
	}
	e.Check(ctx, "skill-undeclared", "", func(ctx context.Context) exam.Outcome {
		x := e.do(ctx, methodList, jsonv.Object())
		list := exam.Result(x).Lookup("skills")
		const form = "skills/list has %d entries, but the extension %s is not declared: clients do not ask for them"
		return exam.BrokenIf(list.Kind() == jsonv.KindArray, x, form, list.Len(), skill.Extension)
	})
}

// examineUnknown asks for a skill that does not exist.
func (e *examiner) examineUnknown(ctx context.Context) {
	uri := "skill://" + e.inventName("skill") + "/SKILL.md"
	e.Check(ctx, "skill-get", "", func(ctx context.Context) exam.Outcome {
		x := e.get(ctx, uri)
		switch {
		case exam.NotFound(x) && !e.hasGet(ctx):
			return exam.Broken(x, "the extension is declared, but skills/get got %s", exam.Answer(x))
		case exam.RPCError(x) == nil && x.Result == nil:
			return exam.Unverified("skills/get got %s", exam.Answer(x))
		}
		return exam.Held()
	})
	e.Check(ctx, "skill-unknown", "", func(ctx context.Context) exam.Outcome {
		x := e.get(ctx, uri)
		switch {
		case exam.NotFound(x) && !e.hasGet(ctx):
			return exam.Unverified("skills/get is not implemented")
		case e.isServed(ctx, x, uri):
			return exam.Unverified("the server also has a skill with the invented name %s", e.inventName("skill"))
		}
		return expectRefusal(x, "skills/get", uri)
	})
}

// mostAsked is how many listed skills are asked for until skills/get counts as missing.
const mostAsked = 3

// hasGet reports whether skills/get knows a listed skill: -32601 for another one is then not
// that of an unknown method.
func (e *examiner) hasGet(ctx context.Context) bool {
	for i, one := range e.listed.entries {
		if i == mostAsked || e.knowsGet {
			break
		}
		e.knowsGet = one.URI != "" && e.get(ctx, one.URI).Result != nil
	}
	return e.knowsGet
}

// isServed reports whether a server really has the skill at an invented URI, as a catalog
// does that makes one for each name: its entry and its text belong to it.
func (e *examiner) isServed(ctx context.Context, x *mcp.Exchange, uri string) bool {
	one := skill.Read(exam.Result(x).Lookup("skill"))
	if skill.Identity(one.URI) != skill.Identity(uri) || len(one.Judge()) > 0 {
		return false
	}
	f, text, _ := e.fetch(ctx, uri)
	return f.err == "" && one.CompareFrontmatter(string(text)).Problem == ""
}

// examineSkills reads the first skills, and what they consist of.
func (e *examiner) examineSkills(ctx context.Context) {
	for i, one := range e.listed.entries {
		if i == mostSkills || ctx.Err() != nil {
			return
		}
		if one.URI == "" {
			continue
		}
		e.Doing(e.Version.Name + " · skill " + skill.Shown(one.URI))
		sources := []source{{methodList, one}}
		if got, ok := e.examineServed(ctx, one); ok && !jsonv.Equal(got.Def, one.Def) {
			e.judge(got, methodGet)
			sources = append(sources, source{methodGet, got})
		}
		e.examineText(ctx, one.URI, sources)
		for _, s := range sources {
			e.examineFiles(ctx, s)
		}
	}
}

// examineServed asks for a skill that is listed, and returns its entry.
func (e *examiner) examineServed(ctx context.Context, one skill.Entry) (got skill.Entry, ok bool) {
	subject := skill.Shown(one.URI)
	var x *mcp.Exchange
	asked := 0
	e.check(ctx, "skill-served", subject, func(ctx context.Context) exam.Outcome {
		x = e.get(ctx, one.URI)
		entry := exam.Result(x).Lookup("skill")
		if asked++; asked > 1 && !e.isStillListed(ctx, one.URI) {
			return exam.Unverified("the skill was listed, and is not when the list is requested again")
		}
		switch {
		case exam.NotFound(x) && !e.hasGet(ctx):
			return exam.Unverified("skills/get is not implemented")
		case exam.RPCError(x) != nil:
			return exam.Broken(x, "the skill is listed, but skills/get got %s", exam.Answer(x))
		case x.Result == nil:
			return exam.Unverified("skills/get got %s", exam.Answer(x))
		case skill.Identity(entry.Lookup("uri").Text()) != skill.Identity(one.URI) && !entry.Lookup("uri").IsAbsent():
			return exam.Broken(x, "skills/get returned another skill: %s", entry.Lookup("uri").Short(200))
		}
		return exam.Held()
	})
	if x == nil { // the rule was not asked for
		x = e.get(ctx, one.URI)
	}
	if x.Result == nil {
		return got, false
	}
	e.judgeResult(x, methodGet)
	e.judgeCache(x, methodGet)
	entry := exam.Result(x).Lookup("skill")
	if entry.Kind() != jsonv.KindObject {
		e.EnterAbout(subject, exam.Broken(x, "the result of skills/get has no skill"), "skill-entry")
		return got, false
	}
	return skill.Read(entry), true
}

// enterLeft enters what was left out, with its number.
func (e *examiner) enterLeft() {
	var skills, files string
	if n := len(e.listed.entries) - mostSkills; n > 0 {
		skills = fmt.Sprintf("%d of %d skills were not read: at most %d are", n, len(e.listed.entries), mostSkills)
	}
	if e.skipped > 0 {
		files = fmt.Sprintf("%d files were not read: at most %d or %d MiB are", e.skipped, mostFiles, mostBytes>>20)
	}
	e.enterLeftOut(skills, "skill-served", "skill-frontmatter", "skill-readable")
	e.enterLeftOut(strings.Trim(skills+"; "+files, "; "), "skill-digest", "skill-file-readable")
	if e.withheld > 0 {
		why := fmt.Sprintf("%d directories were not read: at most %d are", e.withheld, mostDirectories)
		e.enterLeftOut(why, "skill-directory", "skill-directory-children")
	}
}

// enterLeftOut enters for rules that something was left out, "" for nothing.
func (e *examiner) enterLeftOut(why string, rules ...string) {
	if why != "" {
		e.EnterAbout("the rest", exam.Unverified("%s", why), rules...)
	}
}
