package skills

import (
	"context"
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/offer/skill"
	"mcptest/internal/run/probe/exam"
)

// examineList reads skills/list, and judges its entries.
func (e *examiner) examineList(ctx context.Context) {
	e.Check(ctx, "skill-list", "", func(ctx context.Context) exam.Outcome {
		e.listed = e.list(ctx, e.judgePage)
		first := e.listed.first
		switch {
		case exam.NotFound(first):
			return exam.Broken(first, "the extension is declared, but skills/list got %s", exam.Answer(first))
		case first.Result == nil:
			return exam.Unverified("skills/list got %s", exam.Answer(first))
		}
		return exam.Held()
	})
	if e.listed.first == nil { // the rule was not asked for
		e.listed = e.list(ctx, e.judgePage)
	}
	e.examinePages(methodList, &e.listed.pager)
	judged := false
	for i, one := range e.listed.entries {
		judged = true
		e.judge(one, methodList)
		if i < mostSkills && one.Dynamic {
			o := exam.Held()
			o.Note = skill.Shown(one.URI) + " has no digests (resources is \"dynamic\"): hosts may decline to load it"
			e.EnterAbout(skill.Shown(one.URI), o, "skill-dynamic")
		}
	}
	if judged {
		e.Enter(exam.Held(), "skill-entry", "skill-uri", "skill-name-path", "skill-name", "skill-description",
			"skill-manifest",
			"skill-digest-format", "skill-size", "skill-limits", "skill-duplicate-name", "skill-dynamic")
	}
	e.judgeTogether(ctx)
}

// judgeTogether enters the rules that the entries break together. The pages of a list are not
// one moment, so these rules are broken only if the list, requested again, breaks them, too.
func (e *examiner) judgeTogether(ctx context.Context) {
	found := skill.JudgeAll(e.listed.entries)
	if len(found) == 0 {
		return
	}
	if e.listed.pages > 1 && e.listed.isLong() {
		for _, f := range found {
			o := exam.Unverified("%s, on one reading of a list that is too long to be read again", f.Message)
			e.EnterAbout(f.Subject, o, f.Rule)
		}
		return
	}
	again := e.listed
	if e.listed.pages > 1 {
		again = e.list(ctx, nil)
	}
	repeated := skill.JudgeAll(again.entries)
	for _, f := range found {
		if !slices.Contains(repeated, f) {
			o := exam.Unverified("%s, but not when the list was requested again", f.Message)
			e.EnterAbout(f.Subject, o, f.Rule)
			continue
		}
		one, _ := e.listed.find(f.Subject)
		e.fail(f, makeEvidence(methodList, one.Def))
	}
}

// judge enters the rules that an entry breaks.
func (e *examiner) judge(one skill.Entry, method string) {
	for _, f := range one.Judge() {
		e.fail(f, makeEvidence(method, one.Def))
	}
}

// examinePages judges how the pages of a list end.
func (e *examiner) examinePages(subject string, p *pager) {
	switch {
	case p.loop != "":
		e.EnterAbout(subject, exam.Broken(p.looped, "%s: a client would never reach the end", p.loop), "skill-pages")
	case p.cut:
		o := exam.Unverified("the list was not read to its end, after %d pages or %d entries", mostPages, mostEntries)
		e.EnterAbout(subject, o, "skill-pages")
	case p.broken == nil:
		e.Enter(exam.Held(), "skill-pages")
	case p.broken != p.first:
		e.EnterAbout(subject, exam.Unverified("a page got %s", exam.Answer(p.broken)), "skill-pages")
	}
}

// judgePage judges what every result of skills/list has.
func (e *examiner) judgePage(x *mcp.Exchange, _ []jsonv.Value) {
	res := exam.Result(x)
	if list := res.Lookup("skills"); list.Kind() != jsonv.KindArray {
		e.EnterAbout(methodList, exam.Broken(x, "the result has no list skills"), "skill-entry")
	}
	e.judgeResult(x, methodList)
	e.judgeCache(x, methodList)
}

// judgeResult judges the type of a result.
func (e *examiner) judgeResult(x *mcp.Exchange, subject string) {
	kind := exam.Result(x).Lookup("resultType")
	o := exam.BrokenIf(kind.Text() != "complete", x, "resultType is %s, expected \"complete\"", kind.OrNull().Short(40))
	e.EnterAbout(subject, o, "skill-result-type")
}

// judgeCache judges the hints for caches in a result.
func (e *examiner) judgeCache(x *mcp.Exchange, subject string) {
	res := exam.Result(x)
	ttl, scope := res.Lookup("ttlMs"), res.Lookup("cacheScope")
	o := exam.Held()
	switch {
	case ttl.Kind() != jsonv.KindNumber || ttl.Float64() < 0:
		o = exam.Broken(x, "ttlMs is %s, expected a number of 0 or more", ttl.OrNull().Short(40))
	case scope.Text() != "public" && scope.Text() != "private":
		o = exam.Broken(x, "cacheScope is %s, expected public or private", scope.OrNull().Short(40))
	}
	e.EnterAbout(subject, o, "skill-cache")
}
