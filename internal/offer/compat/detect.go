package compat

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/secret"
	"mcptest/internal/client/handshake"
	"mcptest/internal/offer/orders"
	"mcptest/internal/process/bundle"
)

// detectors find problems that a JSON Schema cannot express.
var detectors = map[string]func(List) []place{
	"announced_lists":      findAnnouncedLists,
	"bundle_default":       detectBundleFaults(bundle.FaultDefault),
	"bundle_entry":         detectBundleFaults(bundle.FaultEntry),
	"bundle_executable":    detectBundleFaults(bundle.FaultExecutable),
	"bundle_keys":          detectBundleFaults(bundle.FaultKeys),
	"bundle_list":          detectBundleFaults(bundle.FaultList),
	"bundle_option":        detectBundleFaults(bundle.FaultOption),
	"bundle_outside":       detectBundleFaults(bundle.FaultOutside),
	"bundle_platform":      detectBundleFaults(bundle.FaultPlatform),
	"bundle_prompts":       findBundlePrompts,
	"bundle_relative":      detectBundleFaults(bundle.FaultRelative),
	"bundle_sensitive":     detectBundleFaults(bundle.FaultSensitive),
	"bundle_stray":         findBundleStray,
	"bundle_tools":         findBundleTools,
	"bundle_unknown":       detectBundleFaults(bundle.FaultUnknown),
	"bundle_unset":         detectBundleFaults(bundle.FaultUnset),
	"bundle_variable":      detectBundleFaults(bundle.FaultVariable),
	"bundle_version":       detectBundleFaults(bundle.FaultVersion),
	"confusable_names":     findConfusableNames,
	"credential_values":    findCredentialValues,
	"cross_tool_directive": findCrossToolDirectives,
	"draft_2020":           findNotDraft2020,
	"duplicate_keys":       findDuplicateKeys,
	"duplicate_names":      findDuplicateNames,
	"encoded_payload":      findEncodedPayloads,
	"handshake_go":         detectHandshake(handshake.ReaderGo),
	"handshake_ts":         detectHandshake(handshake.ReaderTS1, handshake.ReaderTS2),
	"header_faults":        findHeaderFaults,
	"hidden_characters":    findHiddenCharacters,
	"orders_to_hide":       findOrdersToHide,
	"error_content":        errorContents,
	"invalid_input":        findInvalidInputs,
	"invalid_output":       findInvalidOutputs,
	"lock_drift":           lockDrift,
	"near_duplicate_names": findNearDuplicateNames,
	"recursive_output":     detectRecursiveOutputs(findDialect),
	"recursive_output_1":   detectRecursiveOutputs(draft07),
	"shadowed_names":       findShadowedNames,
	"uncallable_output":    findUncallableOutputs,
	"undefined_required":   findUndefinedRequired,
	"undescribed_required": findUndescribedRequired,
}

// findAnnouncedLists finds lists that the server announces as changed whenever they are read.
func findAnnouncedLists(l List) []place {
	return lists.Map(l.Announces, func(method string) place {
		return place{subject: method, value: jsonv.String("each request for the list makes the server announce that it has changed (list_changed)")}
	})
}

// flags removes the flags of England, Scotland and Wales, whose characters would hide
// a text anywhere else.
var flags = strings.NewReplacer(
	"\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F", "",
	"\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F", "",
	"\U0001F3F4\U000E0067\U000E0062\U000E0077\U000E006C\U000E0073\U000E007F", "",
)

// findHiddenCharacters finds characters that are invisible or change the order of the
// surrounding text. Joiners inside words and emoji are not reported.
func findHiddenCharacters(l List) []place {
	return keepFaulty(l.selectTexts(every), func(p place) string { return findHidden(flags.Replace(p.value.Text())) })
}

// findHidden returns the first hidden character of a text as an escape sequence.
func findHidden(text string) string {
	var before rune
	for i, r := range text {
		_, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1: // half of a surrogate pair
			escape, _ := display.AppendInvalid(nil, text[i:])
			return string(escape)
		case r == '\n', r == '\t', r == '\r':
		case (display.IsHidden(r) || unicode.Is(unicode.Cf, r)) && !display.IsJoiner(before, r, text[i+n:]):
			return string(display.AppendEscape(nil, r))
		}
		before = r
	}
	return ""
}

// findOrdersToHide finds texts that order the model to hide something from people.
func findOrdersToHide(l List) []place {
	reader := orders.NewReader()
	return keepFaulty(l.selectTexts(read), func(p place) string { return reader.Hides(p.value.Text()) })
}

// findConfusableNames finds names whose letters come from several scripts, are styled
// forms of Latin letters, or are all lookalikes of Latin letters, and names that look
// like another one of the list.
func findConfusableNames(l List) []place {
	names := l.selectEach("/name", func(t jsonv.Value) jsonv.Value { return t.Lookup("name") })
	names = append(names, l.selectParameters(func(name string, _ jsonv.Value) jsonv.Value { return jsonv.String(name) })...)
	twins := map[string]int{} // by the look, in each tool for parameters
	look := func(p place) string {
		if p.pointer == "/name" {
			return foldLookalikes(p.value.Text())
		}
		return p.tool + " " + foldLookalikes(p.value.Text())
	}
	for _, p := range names {
		twins[look(p)]++
	}
	scripts := []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee}
	return slices.DeleteFunc(names, func(p place) bool {
		used := map[int]bool{}
		styled, letters, alike := false, 0, 0
		for _, r := range p.value.Text() {
			if unicode.IsLetter(r) {
				letters++
			}
			if toLatin()[r] != 0 {
				alike++
			}
			if i := slices.IndexFunc(scripts, func(t *unicode.RangeTable) bool { return unicode.Is(t, r) }); i >= 0 {
				used[i] = true
			}
			styled = styled || r >= 0xff01 && r <= 0xff5e || r >= 0x1d400 && r <= 0x1d7ff
		}
		return !styled && len(used) < 2 && (letters < 2 || alike < letters) && (alike == 0 || twins[look(p)] < 2)
	})
}

var base64Run = lazy.Regexp(`[A-Za-z0-9+/_-]{32,}={0,2}`)

var hexRun = lazy.Regexp(`\b(?:[0-9A-Fa-f]{2}){16,}\b`)

// findEncodedPayloads finds Base64 and hexadecimal digits that decode to a sentence.
func findEncodedPayloads(l List) []place {
	var out []place
	for _, p := range l.selectTexts(read) {
		text := p.value.Text()
		find := func(runs []string, decode func(string) ([]byte, error)) {
			for _, run := range runs {
				if data, err := decode(run); err == nil && isSentence(data) {
					p.value = jsonv.String(string(data))
					out = append(out, p)
					return
				}
			}
		}
		find(hexRun().FindAllString(text, 20), hex.DecodeString)
		find(base64Run().FindAllString(text, 20), func(run string) ([]byte, error) {
			return base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/", "=", "").Replace(run))
		})
	}
	return out
}

// isSentence reports whether bytes are ASCII text of several words.
func isSentence(data []byte) bool {
	blanks := 0
	for _, b := range data {
		switch {
		case b == ' ':
			blanks++
		case b < 0x20 && b != '\n' && b != '\t', b > 0x7e:
			return false
		}
	}
	return blanks >= 2
}

// directive matches a text that changes the effect of a call of another tool.
var directive = lazy.Regexp(`\b(?:whenever|when|each time|every time|if|before|after) you (?:use|call|invoke|run)\b[^.\n]{0,80}\b(?:change|replace|redirect|forward|bcc|modify)\b|` + `\b(whenever|when|each time|every time|if|before|after)\b[^.\n]{0,80}\b(is|are|gets|get|being) (called|used|invoked|run|executed)\b[^.\n]{0,160}\b(must|always|add|append|send|include|change|replace|set|forward|bcc|copy|pass|modify|redirect)\b`)

// findCrossToolDirectives finds descriptions that contain instructions about another
// tool, of this or another server, by its name.
func findCrossToolDirectives(l List) []place {
	var out []place
	all := slices.Clone(l.Tools)
	for _, o := range l.others {
		all = append(all, o.Tools...)
	}
	for _, t := range l.Tools {
		text := strings.ToLower(t.Lookup("description").Text())
		found := directive().FindString(text)
		if found == "" {
			continue
		}
		for _, other := range all {
			name := strings.ToLower(nameOf(other))
			if len(name) > 2 && name != strings.ToLower(nameOf(t)) && strings.Contains(found, name) {
				out = append(out, place{tool: nameOf(t), pointer: "/description", value: jsonv.String(nameOf(other))})
				break
			}
		}
	}
	return out
}

// findDuplicateKeys finds keys that a definition has twice, one place for each object.
func findDuplicateKeys(l List) []place {
	all := l.selectEach("", func(t jsonv.Value) jsonv.Value { return t })
	for _, d := range l.Others {
		all = append(all, place{subject: d.Subject, value: d.Def})
	}
	var out []place
	for _, p := range all {
		visitRepeatedKeys(p.value, "", 0, func(pointer, key string) {
			out = append(out, place{tool: p.tool, subject: p.subject, pointer: pointer, value: jsonv.String(key)})
		})
	}
	return out
}

func visitRepeatedKeys(v jsonv.Value, pointer string, depth int, report func(pointer, key string)) {
	if depth > jsonschema.MaxDepth {
		return
	}
	known := map[string]bool{}
	for key, e := range v.Children() {
		at := jsonv.AppendPointer(pointer, key)
		if known[key] {
			report(at, key)
		}
		known[key] = true
		visitRepeatedKeys(e, at, depth+1, report)
	}
}

func findDuplicateNames(l List) []place {
	return findSameNames(l, func(name string) string { return name }, true)
}

// findNearDuplicateNames finds names that differ only in case, separators or a
// plural s.
func findNearDuplicateNames(l List) []place {
	return findSameNames(l, func(name string) string { return strings.TrimSuffix(foldName(name), "s") }, false)
}

// foldName returns a name without case and separators.
func foldName(name string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", "/", "").Replace(strings.ToLower(name))
}

// foldLookalikes returns a folded name in Latin letters, without hidden characters. Names
// with the same result can be mistaken for each other.
func foldLookalikes(name string) string {
	return foldName(strings.Map(func(r rune) rune {
		switch {
		case display.IsHidden(r) || unicode.Is(unicode.Cf, r):
			return -1
		case toLatin()[r] != 0:
			return toLatin()[r]
		}
		return foldWidth(r)
	}, name))
}

// findShadowedNames finds tools that can be mistaken for a tool of another server. The
// servers' own names do not matter, because servers choose them; only variants of one
// server of a suite have the same tools on purpose.
func findShadowedNames(l List) []place {
	owner := map[string]string{}
	for _, o := range l.others {
		for _, t := range o.Tools {
			if name := foldLookalikes(nameOf(t)); name != "" && (o.Base == "" || o.Base != l.Base) {
				owner[name] = o.Server
			}
		}
	}
	var out []place
	for _, p := range l.selectEach("/name", func(t jsonv.Value) jsonv.Value { return t.Lookup("name") }) {
		if server, ok := owner[foldLookalikes(p.value.Text())]; ok {
			p.value = jsonv.String(server)
			out = append(out, p)
		}
	}
	return out
}

// lockDrift finds tools that differ from those of the lock file.
func lockDrift(l List) []place {
	if l.Locked == nil {
		return nil
	}
	locked := map[string]jsonv.Value{}
	for _, t := range l.Locked {
		locked[nameOf(t)] = t
	}
	var out []place
	for _, t := range l.Masked {
		old, ok := locked[nameOf(t)]
		delete(locked, nameOf(t))
		changes := jsonv.Diff(old, t)
		if !ok {
			out = append(out, place{tool: nameOf(t), pointer: "", value: jsonv.String("the tool is new")})
		} else if len(changes) > 0 {
			out = append(out, place{
				tool:    nameOf(t),
				pointer: "",
				value:   jsonv.String(changes[0].Path + " " + changes[0].Kind.String()),
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(locked)) {
		out = append(out, place{tool: name, pointer: "", value: jsonv.String("the tool was removed")})
	}
	return out
}

// errorContents finds results with isError whose structuredContent does not
// match the outputSchema of their tool.
func errorContents(l List) []place {
	var out []place
	for _, t := range l.Tools {
		schema, err := jsonschema.Compile(t.Lookup("outputSchema"), jsonschema.Options{})
		for _, r := range l.Results {
			content := r.Value.Lookup("structuredContent")
			if err != nil || r.Tool != nameOf(t) || !r.Value.Lookup("isError").Bool() || content.IsAbsent() {
				continue
			}
			broken, err := schema.Validate(context.Background(), content) // bounded by its own limits
			if err == nil && len(broken) > 0 {
				out = append(out, place{
					tool:    r.Tool,
					pointer: "/outputSchema",
					value:   jsonv.String(strings.TrimPrefix(broken[0].InstancePath+": ", ": ") + broken[0].Msg),
				})
			}
		}
	}
	return out
}

// findSameNames finds tools whose names have the same key as an earlier one. Identical
// names count only on request.
func findSameNames(l List, key func(string) string, identical bool) []place {
	first := map[string]string{}
	var out []place
	for _, t := range l.Tools {
		name := nameOf(t)
		if name == "" {
			continue // the rules on fields report it
		}
		if earlier, ok := first[key(name)]; ok && (earlier == name) == identical {
			out = append(out, place{tool: name, pointer: "/name", value: jsonv.String(earlier)})
		} else if !ok {
			first[key(name)] = name
		}
	}
	return out
}

// findUndefinedRequired finds required parameters that are not among the properties.
func findUndefinedRequired(l List) []place {
	var out []place
	for _, p := range l.selectSubschemas("inputSchema") {
		properties := p.value.Lookup("properties")
		if properties.Kind() != jsonv.KindObject && p.value.Lookup("type").Text() != "object" {
			continue
		}
		for i, name := range p.value.Lookup("required").Elems() {
			if properties.Lookup(name.Text()).IsAbsent() {
				out = append(out, place{
					tool:    p.tool,
					pointer: jsonv.AppendPointer(jsonv.AppendPointer(p.pointer, "required"), strconv.Itoa(i)),
					value:   name,
				})
			}
		}
	}
	return out
}

// findUndescribedRequired finds tools with required parameters that have no description,
// one place for each tool.
func findUndescribedRequired(l List) []place {
	return l.selectEach("/inputSchema/required", func(t jsonv.Value) jsonv.Value {
		var names []string
		for _, name := range t.Lookup("inputSchema", "required").Elems() {
			def := t.Lookup("inputSchema", "properties", name.Text())
			if def.Kind() == jsonv.KindObject && def.Lookup("description").Len() == 0 && def.Lookup("$ref").IsAbsent() {
				names = append(names, name.Text())
			}
		}
		if names == nil {
			return jsonv.Value{}
		}
		return jsonv.String(strings.Join(names, ", "))
	})
}

// findCredentialValues finds the values that are masked in other outputs: values under
// the names of credentials, in URLs, and after authorization schemes. Examples
// without digits, such as user:password, are skipped.
func findCredentialValues(l List) []place {
	mask := secret.NewRedactor()
	return keepFaulty(l.selectTexts(read), func(p place) string {
		var found secret.Found
		mask.Collect(p.value.Text(), &found)
		if strings.HasSuffix(p.pointer, "/name") || !slices.ContainsFunc(found.All(), isMixed) {
			return ""
		}
		return secret.Mask
	})
}

// isMixed reports whether a value has at least 12 characters, including uppercase and
// lowercase letters and digits.
func isMixed(v string) bool {
	return len(v) >= 12 && !strings.Contains(v, "EXAMPLE") && strings.ContainsFunc(v, unicode.IsUpper) &&
		strings.ContainsFunc(v, unicode.IsLower) && strings.ContainsFunc(v, unicode.IsDigit)
}
