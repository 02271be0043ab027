package result

import (
	"maps"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/secret"
)

// cleanExchanges cleans the exchanges. A credential that is recognized there by its name
// or form is masked in the whole case: in a message, a diff, the request of the next
// step. Values with the name of a credential are added to the secrets of the run.
func (k *cleaner) cleanExchanges(c *Case) {
	var found secret.Found
	k.collectCredentials(c, &found)
	if c.Row != nil {
		c.Row.Values = k.secrets.Collect(c.Row.Values, &found)
	}
	for _, said := range c.listConversations() {
		for _, p := range said.listTexts() {
			*p = k.secrets.Collect(*p, &found)
		}
	}
	k.learnCredentials(c.Assertions, &found)
	if !found.Empty() {
		k.secrets.Learn(found.Named...)
		k.secrets = k.secrets.With(found.All()...)
	}
	if !found.Empty() {
		k.maskFrames(c)
	}
	k.shortenTraffic(c)
}

// collectCredentials finds the credentials in the traffic of a case, with servers and upstreams.
func (k *cleaner) collectCredentials(c *Case, found *secret.Found) {
	for x := range c.walkTraffic() {
		k.roundTime(&x.DurationMS)
		for _, p := range listFrames(x) {
			*p = k.secrets.Collect(*p, found)
		}
		if x.HTTP != nil && len(x.HTTP.Headers) > 0 {
			x.HTTP.Headers = k.cleanHeaders(x.HTTP.Headers, found)
		}
	}
	for i := range c.Upstream {
		u := &c.Upstream[i]
		k.roundTime(&u.StartMS)
		u.Headers = k.cleanHeaders(u.Headers, found)
		u.URL = k.secrets.Collect(u.URL, found)
		query := "" // a form is searched like a query
		if strings.HasPrefix(u.Headers["Content-Type"], "application/x-www-form-urlencoded") {
			query = "?"
		}
		u.Body = strings.TrimPrefix(k.secrets.Collect(query+u.Body, found), query)
	}
}

// maskFrames searches the frames of a case again, for credentials that were found elsewhere in
// it.
func (k *cleaner) maskFrames(c *Case) {
	for x := range c.walkTraffic() {
		for _, p := range listFrames(x) {
			*p = k.secrets.String(*p)
		}
	}
}

// shortenTraffic shortens the frames of a case, whose secrets are masked, and cleans the rest of
// its traffic.
func (k *cleaner) shortenTraffic(c *Case) {
	for x, status := range c.walkTraffic() {
		k.cleanTexts(&x.Step, &x.Method, &x.Error)
		cut := false
		for _, p := range listFrames(x) {
			shorter, was := shorten(display.ShowInvalid(*p), status.limitFrame())
			*p, cut = shorter, cut || was
		}
		x.Truncated = x.Truncated || cut
		for i := range x.During {
			k.cleanFields(&x.During[i], &x.During[i].Raw)
		}
		if x.HTTP != nil {
			k.cleanValues(x.HTTP.Headers)
		}
	}
	for i := range c.Upstream {
		u := &c.Upstream[i]
		u.Body, _ = shorten(display.ShowInvalid(k.secrets.String(u.Body)), c.Status.limitFrame())
		k.cleanFields(u, &u.Body)
		k.cleanValues(u.Headers)
	}
}

// cleanValues cleans the values of a map that belongs to the case.
func (k *cleaner) cleanValues(all map[string]string) {
	for name, value := range all {
		k.cleanTexts(&value)
		all[name] = value
	}
}

// listFrames returns the texts of an exchange that are frames.
func listFrames(x *Exchange) []*string {
	all := make([]*string, 0, 2+len(x.During))
	all = append(all, &x.Request, &x.Response)
	for i := range x.During {
		all = append(all, &x.During[i].Raw)
	}
	return all
}

// cleanHeaders returns a copy in which the headers with names of credentials are
// masked.
func (k *cleaner) cleanHeaders(all map[string]string, found *secret.Found) map[string]string {
	out := maps.Clone(all)
	for name, value := range all {
		if secret.Name(name) {
			found.Name(value)
			value = secret.Mask
		} else {
			value = k.secrets.Collect(value, found)
		}
		clean := name
		k.cleanTexts(&clean)
		if clean != name {
			delete(out, name)
		}
		out[clean] = value
	}
	return out
}

// learnCredentials adds the values of assertions that examine a credential.
func (k *cleaner) learnCredentials(as []Assertion, found *secret.Found) {
	for i := range as {
		a := &as[i]
		if v, ok := unquoteText(a.Actual); ok && secret.HoldsText(a.Target, v) {
			found.Name(v)
		}
		k.learnCredentials(a.Assertions, found)
	}
}

// unquoteText returns the content of a text in quotes.
func unquoteText(s string) (string, bool) {
	if len(s) < 3 || s[0] != '"' || s[len(s)-1] != '"' {
		return "", false
	}
	return s[1 : len(s)-1], true
}

func (k *cleaner) cleanAssertions(as []Assertion) {
	for i := range as {
		a := &as[i]
		if !a.Set && a.Actual != "" && secret.HoldsText(a.Target, strings.Trim(a.Actual, `"`)) {
			k.shown = append(k.shown, a.Actual)
			a.Message = maskShown(a.Message, a.Actual)
			a.Actual = secret.Mask
		}
		for j, line := range a.Diff {
			a.Diff[j] = maskDiffLine(line)
		}
		a.Diff = k.secrets.Lines(a.Diff)
		k.cleanFields(a, nil)
		for _, number := range []*float64{a.Score, a.Weight, a.Threshold} {
			if number != nil {
				*number = makeFinite(*number)
			}
		}
		k.cleanAssertions(a.Assertions)
	}
}

// maskShown returns text with a shown value masked, but not its quotes. A short value
// without quotes is not masked, because it may be an unrelated number.
func maskShown(text, shown string) string {
	if _, ok := unquoteText(shown); ok {
		return strings.ReplaceAll(text, shown, `"`+secret.Mask+`"`)
	}
	if len(shown) < secret.MinLength {
		return text
	}
	return strings.ReplaceAll(text, shown, secret.Mask)
}

// maskDiffLine masks the value of a credential in a line of a structural
// diff: password: want "a", got "b".
func maskDiffLine(line string) string {
	path, rest, _ := strings.Cut(line, ": ")
	at := strings.Index(rest, "got \"") + len("got ")
	if at < len("got ") || !secret.HoldsText(path, strings.Trim(rest[at:], `"`)) {
		return line
	}
	return path + ": " + rest[:at] + `"` + secret.Mask + `"`
}

// cleanExcerpt cleans a part of a server's output, which may begin and end anywhere, even
// within a private key.
func (k *cleaner) cleanExcerpt(server string, f *string) {
	if *f == "" {
		return
	}
	key := k.keys[server]
	hidden := key.HidesLine(*f)
	k.keys[server] = key
	if hidden {
		*f = secret.Mask
		return
	}
	*f, _ = shorten(display.ShowInvalid(k.secrets.Cut(*f)), otherText)
}

// leftOut is the end of the line that replaces the middle of a long output.
const leftOut = " bytes left out]\n"

// maskCut masks the secrets of an output whose beginning, or a part in the middle,
// may be missing.
func maskCut(r *secret.Redactor, s string) string {
	head, end, ok := strings.Cut(s, leftOut)
	if !ok {
		return r.Cut(s)
	}
	head, mark := head[:strings.LastIndexByte(head, '\n')+1], head[strings.LastIndexByte(head, '\n')+1:]
	if head == "" {
		return mark + leftOut + r.Cut(end)
	}
	return r.Cut(strings.TrimSuffix(head, "\n")) + "\n" + mark + leftOut + r.Cut(end)
}

// cleanRepeated cleans what is known from running a test again.
func (k *cleaner) cleanRepeated(c *Case) {
	if c.Repeat != nil {
		for i := range c.Repeat.Latency {
			k.cleanTexts(&c.Repeat.Latency[i].Name)
		}
	}
	if d := c.Diagnosis; d != nil {
		d.Status = checkStatus(d.Status)
		k.cleanFields(d, nil)
	}
}

// cleanConversations cleans what a model and a test said to each other.
func (k *cleaner) cleanConversations(c *Case) {
	for _, said := range c.listConversations() {
		k.cleanTexts(&said.Model, &said.ModelName, &said.Stop)
		k.cleanTexts(said.listTexts()...)
		k.roundTime(&said.DurationMS)
		k.cleanList(&said.Tools)
	}
}
