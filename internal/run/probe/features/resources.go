package features

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/probe/exam"
)

// maxReads is the number of resources that are read.
const maxReads = 20

// Resources examines resources and their templates.
func Resources(ctx context.Context, v *exam.Visit) {
	if !v.Declares("resources") {
		return
	}
	for i, def := range v.Resources {
		uri := def.Lookup("uri").Text()
		isURI := exam.BrokenIf(!isAbsolute(uri), placeOf("resources/list", def), "the URI is not an absolute URI")
		v.State(ctx, "resource-uri-syntax", "resource "+uri, isURI)
		switch {
		case ctx.Err() != nil:
		case exam.IsChosen(i, len(v.Resources), maxReads):
			readContent(ctx, v, uri)
		default:
			unread := exam.Unverified("only %d resources are read", maxReads)
			v.EnterAbout("resource "+uri, unread, "resource-uri", "resource-body", "resource-base64", "resource-listed-readable")
		}
	}
	readMissing(ctx, v)
	for i, t := range v.Templates {
		template := t.Lookup("uriTemplate").Text()
		if template != "" && i < maxReads && ctx.Err() == nil && !strings.HasPrefix(template, "http") {
			fetch(ctx, v, expression().ReplaceAllLiteralString(template, "1")) // any answer is right, none is not
			v.Settle(ctx)
		}
		readOutside(ctx, v, template)
	}
}

// isAbsolute reports whether a text is an absolute URI. net/url is stricter than RFC 3986 in
// some places, such as an escaped name of a host, and less strict in others.
func isAbsolute(uri string) bool {
	u, err := url.Parse(uri)
	return err == nil && u.Scheme != "" || absoluteURI().MatchString(uri)
}

// absoluteURI is the syntax of a URI in RFC 3986, with any text as an address in brackets.
var absoluteURI = lazy.Regexp(strings.NewReplacer(
	"NAME", `(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})`,
	"CHAR", `(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})`,
).Replace(`^[A-Za-z][A-Za-z0-9+.-]*:` +
	`(?://(?:(?:NAME|:)*@)?(?:\[[^\]/?#]+\]|NAME*)(?::[0-9]*)?(?:/(?:CHAR|/)*)?|/(?:CHAR(?:CHAR|/)*)?|CHAR(?:CHAR|/)*|)` +
	`(?:\?(?:CHAR|[/?])*)?(?:#(?:CHAR|[/?])*)?$`))

func fetch(ctx context.Context, v *exam.Visit, uri string) *mcp.Exchange {
	return v.Do(ctx, "resources/read", jsonv.ObjectOf("uri", uri))
}

// readContent reads a listed resource.
func readContent(ctx context.Context, v *exam.Visit, uri string) {
	x, subject := fetch(ctx, v, uri), "resource "+uri
	if !strings.HasPrefix(uri, "https:") { // clients load these by themselves
		isUnreadable := x.Result == nil && !exam.RefusesAll(exam.Status(x))
		o := exam.BrokenIf(isUnreadable, x, "the resource is listed, but reading it got %s", exam.Answer(x))
		v.State(ctx, "resource-listed-readable", subject, o)
	}
}

// readMissing reads a sibling of a listed URI that does not exist.
func readMissing(ctx context.Context, v *exam.Visit) {
	if unread := findUnreadList(v); unread != "" {
		v.Enter(exam.Unverified("%s was not read to its end: what exists is not known", unread), "resource-missing", "resource-missing-empty")
		return
	}
	uri := findUnlistedURI(v)
	if uri == "" {
		v.Enter(exam.Unverified("no URI is known that certainly does not exist"), "resource-missing", "resource-missing-empty")
		return
	}
	codes := []int64{protocol.CodeInvalidParams}
	if !v.Modern() {
		codes = []int64{-32002, protocol.CodeInvalidParams}
	}
	v.Check(ctx, "resource-missing", "", func(ctx context.Context) exam.Outcome {
		x := fetch(ctx, v, uri)
		if x.Result != nil && exam.Result(x).Lookup("contents").Len() == 0 && !exam.Another(x) && v.Modern() {
			return exam.Unverified("see resource-missing-empty")
		}
		if isMadeForAny(x) {
			return exam.Unverified("the server makes contents for URIs that it does not list")
		}
		return v.ExpectCode(ctx, "resources/read", jsonv.ObjectOf("uri", uri), codes...)
	})
	v.Check(ctx, "resource-missing-empty", "", func(ctx context.Context) exam.Outcome {
		x := fetch(ctx, v, uri)
		contents := exam.Result(x).Lookup("contents")
		return exam.BrokenIf(contents.Kind() == jsonv.KindArray && contents.Len() == 0, x, "reading a resource that does not exist got empty contents")
	})
}

// noSuchName is in the URI that does not exist.
const noSuchName = "mcptest-no-such-resource"

// notFound is what a text says that stands for an error.
var notFound = lazy.Regexp(`(?i)not found|no such (file|resource|entry|key)|not exist|unknown|invalid|error|missing|cannot|can't|could not|failed|unable`)

// isMadeForAny reports whether the contents of a resource were made for its URI: their text
// names what was asked for, and is no message that it is not there. A URI that is served so
// exists, although no list has it.
func isMadeForAny(x *mcp.Exchange) bool {
	for _, content := range exam.Result(x).Lookup("contents").List() {
		text := content.Lookup("text").Text()
		if strings.Contains(text, noSuchName) && !notFound().MatchString(strings.ReplaceAll(text, noSuchName, "")) {
			return true
		}
	}
	return false
}

// findUnreadList returns a list of resources or templates that was not read to its end, "" if none is.
// A server that does not serve a list has no entries of it.
func findUnreadList(v *exam.Visit) string {
	for _, l := range v.Listed {
		last := l.Pages[len(l.Pages)-1]
		if l.Kind != surface.Resource && l.Kind != surface.Template {
			continue
		}
		if l.Long || last.Result == nil && !exam.NotFound(last) {
			return l.Method
		}
	}
	return ""
}

// findUnlistedURI returns a URI with the scheme of one that the server knows, which is not listed and
// which no template matches; "" if there is none.
func findUnlistedURI(v *exam.Visit) string {
	var known []string
	for _, def := range v.Resources {
		known = append(known, def.Lookup("uri").Text())
	}
	for _, t := range v.Templates {
		known = append(known, expression().ReplaceAllLiteralString(t.Lookup("uriTemplate").Text(), "mcptest"))
	}
	for _, uri := range known {
		scheme, _, found := strings.Cut(uri, ":")
		if !found || scheme == "https" || scheme == "http" {
			continue // anything may exist there
		}
		for _, candidate := range []string{uri + "-" + noSuchName, uri + "/a/b/" + noSuchName, scheme + ":///" + noSuchName, scheme + "://" + noSuchName + "/a/b"} {
			if !slices.Contains(known, candidate) && !isMatched(v, candidate) {
				return candidate
			}
		}
	}
	return ""
}

// isMatched reports whether a template may expand to a URI.
func isMatched(v *exam.Visit, uri string) bool {
	return slices.ContainsFunc(v.Templates, func(t jsonv.Value) bool {
		return surface.TemplatePattern(t.Lookup("uriTemplate").Text()).MatchString(uri)
	})
}

var expression = lazy.Regexp(`\{[^}]*\}`)

// readOutside reads a file that the probe made through a template of file: URIs.
func readOutside(ctx context.Context, v *exam.Visit, template string) {
	if !strings.HasPrefix(template, "file:") || strings.Count(template, "{") != 1 || !v.Local {
		return
	}
	v.Check(ctx, "resource-traversal", template, func(ctx context.Context) exam.Outcome {
		const secret = "mcptest-probe-file"
		dir, err := os.MkdirTemp("", "mcptest-probe-")
		if err != nil {
			return exam.Unverified("%v", err)
		}
		defer os.RemoveAll(dir)
		file := filepath.Join(dir, "secret.txt")
		if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
			return exam.Unverified("%v", err)
		}
		below := filepath.ToSlash(strings.TrimPrefix(file, string(filepath.Separator)))
		const depth = 12
		ups := []string{
			"",
			strings.Repeat("../", depth),
			strings.Repeat("..%2F", depth),
			strings.Repeat("%2e%2e/", depth),
		}
		for _, up := range ups {
			x := fetch(ctx, v, expression().ReplaceAllLiteralString(template, up+below))
			switch {
			case !strings.Contains(string(x.Result), secret):
			case up == "":
				return exam.Inapplicable("the template gives every file")
			default:
				return exam.Broken(x, "a path with .. gave a file outside of the template")
			}
		}
		return exam.Held()
	})
}
