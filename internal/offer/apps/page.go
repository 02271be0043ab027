package apps

import (
	"strings"

	"golang.org/x/net/html"
)

// A scan reads a page once, without a tree: what it needs does not grow with the page.
type scan struct {
	hasTag     bool
	hasDoctype bool
	base       string
	hasBase    bool
	templates  int  // open elements, whose content is inert
	script     bool // the next text is a script
	style      bool // the next text is a style sheet
	found      func(reference)
}

// scanPage reads a page and calls found for each reference.
func scanPage(page string, found func(reference)) *scan {
	s := &scan{found: found}
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken: // the end; a page has no syntax errors
			return s
		case html.DoctypeToken:
			s.hasDoctype = s.hasDoctype || !s.hasTag
		case html.TextToken:
			s.readText(z)
		case html.StartTagToken, html.SelfClosingTagToken:
			s.readTag(z)
		case html.EndTagToken:
			s.style, s.script = false, false
			if name, _ := z.TagName(); string(name) == "template" {
				s.templates = max(0, s.templates-1)
			}
		}
	}
}

// readText reads the content of an element that is no HTML.
func (s *scan) readText(z *html.Tokenizer) {
	switch {
	case s.style:
		s.readStyles(string(z.Raw()))
	case s.script:
		scanScript(string(z.Raw()), s.add)
	}
	s.style, s.script = false, false
}

// maxAttributes bounds those of one element that are kept.
const maxAttributes = 200

// readTag reads an element.
func (s *scan) readTag(z *html.Tokenizer) {
	s.hasTag, s.style, s.script = true, false, false
	raw, more := z.TagName()
	name := string(raw)
	if name == "template" {
		s.templates++
	}
	if s.templates > 0 {
		return
	}
	attributes := map[string]string{}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if _, repeated := attributes[string(key)]; !repeated && len(attributes) < maxAttributes {
			attributes[string(key)] = string(value)
		}
	}
	s.style = name == "style"
	s.script = name == "script" && isScript(attributes["type"])
	s.readElement(name, attributes)
	if styles := attributes["style"]; styles != "" {
		s.readStyles(styles)
	}
}

// readElement finds the URLs that a browser loads for an element.
func (s *scan) readElement(name string, attributes map[string]string) {
	switch name {
	case "base":
		if href, ok := attributes["href"]; ok && !s.hasBase {
			s.hasBase, s.base = true, href
			s.add(useBase, href)
		}
	case "script":
		_, isLegacy := attributes["nomodule"] // no host's browser loads it
		if isScript(attributes["type"]) && !isLegacy {
			s.add(useScript, attributes["src"])
			s.add(useScript, attributes["href"]) // in SVG
			s.add(useScript, attributes["xlink:href"])
		}
	case "link":
		s.readLink(attributes)
	case "iframe", "frame":
		if _, inline := attributes["srcdoc"]; !inline {
			s.add(useFrame, attributes["src"])
		}
	case "img", "source", "video", "audio", "track":
		s.add(useImage, attributes["src"])
		s.add(useImage, attributes["poster"])
		s.readSet(attributes["srcset"])
	case "input":
		if strings.EqualFold(attributes["type"], "image") {
			s.add(useImage, attributes["src"])
		}
	case "image", "use", "feimage":
		s.add(useImage, attributes["href"])
		s.add(useImage, attributes["xlink:href"])
	}
}

// readLink finds what a link loads. Others are only addresses, or hints that nothing needs.
func (s *scan) readLink(attributes map[string]string) {
	_, disabled := attributes["disabled"]
	for _, relation := range strings.Fields(strings.ToLower(attributes["rel"])) {
		switch {
		case relation == "stylesheet" && !disabled:
			s.add(useStylesheet, attributes["href"])
		case relation == "modulepreload":
			s.add(useModule, attributes["href"])
		}
	}
}

// readSet finds the images of a srcset: URLs, each before a size and a comma.
func (s *scan) readSet(set string) {
	for set = strings.TrimLeft(set, " \t\r\n\f,"); set != ""; set = strings.TrimLeft(set, " \t\r\n\f,") {
		end := strings.IndexAny(set, " \t\r\n\f")
		if end < 0 {
			s.add(useImage, strings.TrimRight(set, ","))
			return
		}
		address := set[:end]
		s.add(useImage, strings.TrimRight(address, ","))
		set = set[end:]
		if !strings.HasSuffix(address, ",") {
			_, set, _ = strings.Cut(set, ",")
		}
	}
}

// isScript reports whether an element script with a type is executed; others hold data.
func isScript(kind string) bool {
	kind = strings.ToLower(strings.TrimSpace(kind))
	kind, _, _ = strings.Cut(kind, ";")
	return kind == "" || kind == "module" || strings.HasSuffix(kind,
		"javascript") || strings.HasSuffix(kind, "ecmascript") ||
		kind == "text/jscript" || kind == "text/livescript"
}

// add reports a reference.
func (s *scan) add(u use, address string) {
	address = strings.TrimSpace(address)
	if address != "" && !strings.HasPrefix(address, "#") {
		s.found(reference{u, address})
	}
}

// readStyles finds the URLs in a style sheet or in the attribute style.
func (s *scan) readStyles(css string) {
	scanStyles(css, s.add)
}
