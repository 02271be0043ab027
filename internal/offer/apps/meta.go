package apps

import (
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// cspLists are the members of csp, each a list of origins.
var cspLists = []string{"connectDomains", "resourceDomains", "frameDomains", "baseUriDomains"}

// permissions are the known members of permissions, each an object.
var permissions = []string{"camera", "microphone", "geolocation", "clipboardWrite"}

// judgeMeta judges _meta.ui of a resource.
func (j *judge) judgeMeta(meta jsonv.Value, at place) {
	if isNone(meta) {
		return
	}
	if meta.Kind() != jsonv.KindObject {
		at.pointer = "/_meta/ui"
		j.reportAs(LevelWarning, "ui-meta-shape", at, "_meta.ui is %s, expected an object", meta.Short(shownLength))
		return
	}
	j.judgeCSP(meta.Lookup("csp"), at)
	j.judgePermissions(meta.Lookup("permissions"), at)
	j.judgeMember(meta, "prefersBorder", jsonv.KindBool, "true or false", at)
	j.judgeMember(meta, "domain", jsonv.KindString, "a text", at)
	j.judgeDomain(meta.Lookup("domain"), at)
}

// judgeMember judges the type of a member that may be left out.
func (j *judge) judgeMember(meta jsonv.Value, name string, kind jsonv.Kind, expected string, at place) {
	value := meta.Lookup(name)
	if value.IsAbsent() || value.Kind() == kind {
		return
	}
	at.pointer = "/_meta/ui/" + name
	j.reportAs(LevelWarning, "ui-meta-shape", at, "%s is %s, expected %s", name, value.Short(shownLength), expected)
}

// judgePermissions judges the permissions that a view asks for.
func (j *judge) judgePermissions(asked jsonv.Value, at place) {
	if asked.IsAbsent() {
		return
	}
	at.pointer = "/_meta/ui/permissions"
	if asked.Kind() != jsonv.KindObject {
		j.reportAs(LevelWarning, "ui-meta-shape", at,
			"permissions is %s, expected an object such as {\"camera\": {}}", asked.Short(shownLength))
		return
	}
	for _, name := range permissions {
		one := asked.Lookup(name)
		if !one.IsAbsent() && one.Kind() != jsonv.KindObject {
			j.reportAs(LevelWarning, "ui-meta-shape", at,
				"permissions.%s is %s, expected {}", name, one.Short(shownLength))
		}
	}
}

// judgeCSP judges the shape of csp, the names of its members and their entries.
func (j *judge) judgeCSP(csp jsonv.Value, at place) {
	if csp.IsAbsent() {
		return
	}
	at.pointer = "/_meta/ui/csp"
	if isNone(csp) {
		j.reportAs(LevelWarning, "ui-meta-shape", at, "csp is null, expected an object, or no member")
		return
	}
	if csp.Kind() != jsonv.KindObject {
		j.report("ui-meta-shape", at, "csp is %s, expected an object: nothing is allowed", csp.Short(shownLength))
		return
	}
	for _, name := range dropRepeats(csp.Keys()) {
		if near := findNearCSPList(name); near != "" {
			j.report("ui-csp-key", at,
				"csp has the member %s, which hosts ignore, so that it allows nothing: did you mean %s?",
				quote(name), near)
		}
	}
	for _, name := range cspLists {
		list := csp.Lookup(name)
		at.pointer = "/_meta/ui/csp/" + name
		if list.IsAbsent() {
			continue
		}
		if isNone(list) {
			j.reportAs(LevelWarning, "ui-meta-shape", at,
				"csp.%s is null, expected a list of texts, or no member", name)
			continue
		}
		if list.Kind() != jsonv.KindArray {
			j.report("ui-meta-shape", at, "csp.%s is %s, expected a list of texts", name, list.Short(shownLength))
			continue
		}
		for _, entry := range list.Elems() {
			if entry.Kind() != jsonv.KindString {
				j.report("ui-meta-shape", at, "csp.%s has %s, expected texts only", name, entry.Short(shownLength))
				continue
			}
			if fault := findEntryFault(entry.Text()); fault.message != "" {
				j.reportAs(fault.level, "ui-csp-origin", at,
					"csp.%s has %s, %s", name, quote(entry.Text()), fault.message)
			}
		}
	}
}

// directives are the names that a policy of the web has for the members of csp.
var directives = map[string]string{
	"connectsrc": "connectDomains",
	"scriptsrc":  "resourceDomains",
	"stylesrc":   "resourceDomains",
	"imgsrc":     "resourceDomains",
	"fontsrc":    "resourceDomains",
	"mediasrc":   "resourceDomains",
	"framesrc":   "frameDomains",
	"baseuri":    "baseUriDomains",
}

// maxKey bounds the names that are compared with the known ones.
const maxKey = 40

// findNearCSPList is the member of csp that a name was meant to be, "" if it is none or right.
func findNearCSPList(name string) string {
	if len(name) > maxKey {
		return ""
	}
	plain := strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
	if known := directives[plain]; known != "" {
		return known
	}
	lower := map[string]string{}
	var all []string
	for _, list := range cspLists {
		if name == list {
			return ""
		}
		lower[strings.ToLower(list)] = list
		all = append(all, strings.ToLower(list))
	}
	if known := lower[plain]; known != "" {
		return known
	}
	return lower[source.FindNearest(plain, all)]
}

// judgeToolMeta reports what hosts read from the resource and a tool has in its place.
func (j *judge) judgeToolMeta(l Listing) {
	for _, tool := range l.Tools {
		v := readView(tool)
		if !v.isText {
			continue
		}
		meta, known := j.findMeta(l.Revision, v.uri)
		if !known {
			continue
		}
		for _, member := range []string{"csp", "permissions", "domain"} {
			if isNone(tool.Lookup("_meta", "ui", member)) || !isNone(meta.Lookup(member)) {
				continue
			}
			at := place{tool: tool.Lookup("name").Text(), pointer: "/_meta/ui/" + member}
			j.report("ui-tool-meta", at,
				"%s is on the tool, and not on the resource %s, from which hosts read it", member, quote(v.uri))
		}
	}
}

// findMeta returns _meta.ui of a view: that of the content, else that of the list.
func (j *judge) findMeta(revision, uri string) (meta jsonv.Value, known bool) {
	listed := j.listed[viewKey{revision, uri}].Lookup("_meta", "ui")
	for _, r := range j.server.Reads {
		if r.Revision != revision || r.URI != uri || r.Failure != "" || r.Unknown != "" {
			continue
		}
		item, fault := findContent(r)
		if fault != "" {
			continue
		}
		if meta := item.Lookup("_meta", "ui"); !isNone(meta) {
			return meta, true
		}
		return listed, true
	}
	return listed, !isNone(listed)
}
