package apps

import (
	"fmt"
	"strings"

	"mcptest/internal/base/jsonv"
)

// subjectOf names a resource.
func subjectOf(uri string) string { return "resource " + uri }

// judgeListed judges what a list says about a view.
func (j *judge) judgeListed(resource jsonv.Value) {
	uri := resource.Lookup("uri").Text()
	if !hasViewScheme(uri) {
		return
	}
	at := place{subject: subjectOf(uri)}
	j.judgeMeta(resource.Lookup("_meta", "ui"), at)
	mime := resource.Lookup("mimeType")
	isWrong := !isNone(mime) && mime.Text() != MediaType
	if isWrong && j.opened[uri] && normalizeMIME(mime.Text()) != MediaType {
		at.pointer = "/mimeType"
		j.reportAs(LevelAdvice, "ui-mime", at,
			"resources/list says that the view is %s, expected %s", mime.Short(shownLength), MediaType)
	}
}

// judgeReads judges the answers to resources/read.
func (j *judge) judgeReads() {
	failures := map[string][]Read{}
	read := map[string]int{}
	var order []string
	for _, r := range j.server.Reads {
		if r.Unknown != "" {
			j.note("the view %s was not judged in %s: %s", quote(r.URI), r.Revision, shorten(r.Unknown))
			continue
		}
		if read[r.URI] == 0 {
			order = append(order, r.URI)
		}
		read[r.URI]++
		if r.Failure != "" {
			failures[r.URI] = append(failures[r.URI], r)
			continue
		}
		j.judgeRead(r)
	}
	for _, uri := range order {
		j.judgeFailures(uri, failures[uri], read[uri])
	}
}

// judgeFailures reports a view that cannot be read, in which revisions.
func (j *judge) judgeFailures(uri string, failures []Read, reads int) {
	if len(failures) == 0 {
		return
	}
	where := ""
	if len(failures) < reads {
		where = " in " + failures[0].Revision
	}
	for _, name := range j.listTools(uri) {
		message := fmt.Sprintf("the view of the tool %s, %s, cannot be read%s: %s; hosts show a blank frame",
			quote(name), quote(uri), where, shorten(failures[0].Failure))
		if near := j.findNearMiss(uri); near != "" {
			message += fmt.Sprintf(" (resources/list has %s)", quote(near))
		}
		j.add(LevelError, "ui-resource-exists", place{tool: name, pointer: "/_meta/ui/resourceUri"}, "", message)
	}
}

// listTools are the tools whose view has a URI.
func (j *judge) listTools(uri string) (names []string) {
	for _, l := range j.server.Listings {
		for _, tool := range l.Tools {
			if v := readView(tool); v.isText && v.uri == uri {
				names = append(names, tool.Lookup("name").Text())
			}
		}
	}
	return dropRepeats(names)
}

// findNearMiss is a listed URI that differs in case or a slash at the end only.
func (j *judge) findNearMiss(uri string) string {
	bare := func(s string) string { return strings.TrimRight(strings.ToLower(s), "/") }
	for _, l := range j.server.Listings {
		for _, resource := range l.Resources {
			listed := resource.Lookup("uri").Text()
			if listed != uri && bare(listed) == bare(uri) {
				return listed
			}
		}
	}
	return ""
}

// judgeRead judges the contents of a view.
func (j *judge) judgeRead(r Read) {
	at := place{subject: subjectOf(r.URI)}
	item, fault := findContent(r)
	mime := item.Lookup("mimeType")
	if !j.isView(r, mime) {
		return // a resource that no tool opens may be anything
	}
	if fault != "" {
		j.report("ui-content", at, "%s: hosts show a blank frame", fault)
		return
	}
	j.judgeMime(mime, at)
	page, fault := readPage(item)
	if fault != "" {
		j.report("ui-content", at, "%s: hosts show a blank frame", fault)
		return
	}
	listed := j.listed[viewKey{r.Revision, r.URI}].Lookup("_meta", "ui")
	meta := item.Lookup("_meta", "ui")
	j.judgeMeta(meta, at)
	if isNone(meta) {
		meta = listed
	}
	judged, known := j.pages[r.URI]
	isSame := known && judged.page == page && jsonv.Equal(judged.csp, meta.Lookup("csp"))
	if isHTML(mime) && !isSame {
		j.pages[r.URI] = servedPage{page, meta.Lookup("csp")}
		j.judgePage(page, newPolicy(meta.Lookup("csp")), at)
	}
}

// isView reports whether a resource is a view: a tool opens it, or it is called one.
func (j *judge) isView(r Read, mime jsonv.Value) bool {
	listed := j.listed[viewKey{r.Revision, r.URI}].Lookup("mimeType")
	return j.opened[r.URI] || normalizeMIME(listed.Text()) == MediaType || normalizeMIME(mime.Text()) == MediaType
}

// judgeMime judges the type of a view that was read.
func (j *judge) judgeMime(mime jsonv.Value, at place) {
	switch {
	case mime.Text() == MediaType:
	case normalizeMIME(mime.Text()) == MediaType:
		j.reportAs(LevelWarning, "ui-mime", at,
			"mimeType is %s: hosts that compare texts ignore the view; write %s", mime.Short(shownLength), MediaType)
	case isNone(mime):
		j.report("ui-mime", at, "the content has no mimeType: hosts ignore a view that is not called %s", MediaType)
	default:
		j.report("ui-mime", at, "hosts ignore a view that is called %s", mime.Short(shownLength))
	}
}
