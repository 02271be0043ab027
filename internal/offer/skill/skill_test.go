package skill_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/offer/skill"
)

const hex64 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// fileOf is one entry of a manifest.
func fileOf(uri string) string {
	return fmt.Sprintf(`{"uri":%q,"digest":"sha256:%s","size":3}`, uri, hex64)
}

// entryOf is the JSON of an entry with these files besides SKILL.md.
func entryOf(uri, name string, files ...string) string {
	list := []string{fileOf(uri)}
	for _, f := range files {
		list = append(list, fileOf(f))
	}
	return fmt.Sprintf(`{"uri":%q,"frontmatter":{"name":%q,"description":"Does things."},"resources":[%s]}`, uri, name, strings.Join(list, ","))
}

func parse(t *testing.T, text string) jsonv.Value {
	t.Helper()
	v, err := jsonv.Parse([]byte(text))
	if err != nil {
		t.Fatal(err, text)
	}
	return v
}

func rulesOf(found []skill.Finding) (out []string) {
	for _, f := range found {
		if !slices.Contains(out, f.Rule) {
			out = append(out, f.Rule)
		}
	}
	return out
}

// Each entry breaks exactly the rules that it names.
func TestEntries(t *testing.T) {
	t.Parallel()
	good := entryOf("skill://a/SKILL.md", "a")
	with := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("no %s in %s", old, good)
		}
		return strings.Replace(good, old, new, 1)
	}
	many := make([]string, 512)
	for i := range many {
		many[i] = fmt.Sprintf("skill://a/f%d", i)
	}
	for name, c := range map[string]struct{ entry, rules string }{
		"plain":                    {good, ""},
		"dynamic":                  {`{"uri":"skill://x/daily/SKILL.md","frontmatter":{"name":"daily","description":"d"},"resources":"dynamic"}`, ""},
		"another scheme":           {entryOf("github://owner/repo/skills/refunds/SKILL.md", "refunds", "github://owner/repo/skills/refunds/a/b.md"), ""},
		"file":                     {entryOf("file:///srv/skills/refunds/SKILL.md", "refunds"), ""},
		"umlaut, escaped":          {entryOf("skill://%C3%BCber/SKILL.md", "über", "skill://über/a.md"), ""},
		"café in a path":           {entryOf("skill://team/caf%c3%a9/SKILL.md", "café"), ""},
		"Chinese":                  {entryOf("skill://技能/SKILL.md", "技能"), ""},
		"64 umlauts":               {entryOf("skill://x/"+strings.Repeat("ü", 64)+"/SKILL.md", strings.Repeat("ü", 64)), ""},
		"escapes of letters":       {entryOf("skill://x/%61/SKILL.md", "a", "skill://x/a/%62.md"), ""},
		"size 0":                   {with(`"size":3`, `"size":0`), ""},
		"size 3.0":                 {with(`"size":3`, `"size":3.0`), ""},
		"a dot in a file":          {entryOf("skill://a/SKILL.md", "a", "skill://a/./b.md"), ""},
		"512 files":                {entryOf("skill://a/SKILL.md", "a", many[:511]...), ""},
		"16 MiB":                   {with(`"size":3`, `"size":16777216`), ""},
		"no object":                {`"skill://a/SKILL.md"`, "skill-entry"},
		"no uri":                   {with(`"uri":"skill://a/SKILL.md","frontmatter"`, `"frontmatter"`), "skill-entry"},
		"no frontmatter":           {with(`"frontmatter":{"name":"a","description":"Does things."},`, ``), "skill-entry"},
		"no name":                  {with(`"name":"a",`, ``), "skill-entry"},
		"a number as name":         {with(`"name":"a"`, `"name":1`), "skill-entry"},
		"no description":           {with(`,"description":"Does things."`, ``), "skill-entry"},
		"no resources":             {`{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"d"}}`, "skill-entry"},
		"resources is text":        {`{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"d"},"resources":"none"}`, "skill-entry"},
		"resources is null":        {`{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"d"},"resources":null}`, "skill-entry"},
		"resources is an object":   {`{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"d"},"resources":{}}`, "skill-entry"},
		"Dynamic":                  {`{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"d"},"resources":"Dynamic"}`, "skill-entry"},
		"empty resources":          {`{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"d"},"resources":[]}`, "skill-manifest"},
		"directory as uri":         {entryOf("skill://a", "a"), "skill-uri"},
		"no directory":             {entryOf("skill://SKILL.md", "SKILL.md"), "skill-name skill-uri"},
		"empty directory":          {entryOf("skill://x//SKILL.md", "x"), "skill-uri"},
		"lowercase file":           {entryOf("skill://a/skill.md", "a"), "skill-uri"},
		"a query":                  {entryOf("skill://a/SKILL.md?v=1", "a"), "skill-uri"},
		"no scheme":                {entryOf("a/SKILL.md", "a"), "skill-uri"},
		"scheme without slashes":   {entryOf("git:acme/refunds/SKILL.md", "refunds"), ""},
		"only a file":              {entryOf("git:SKILL.md", "SKILL.md"), "skill-name skill-uri"},
		"another name":             {entryOf("skill://a/SKILL.md", "b"), "skill-name-path"},
		"name of the prefix":       {entryOf("skill://acme/refunds/SKILL.md", "acme"), "skill-name-path"},
		"dots to another":          {entryOf("skill://a/../b/SKILL.md", "a"), "skill-name-path"},
		"uppercase":                {entryOf("skill://Tools/SKILL.md", "Tools"), "skill-name"},
		"uppercase umlaut":         {entryOf("skill://%C3%9Cber/SKILL.md", "Über"), "skill-name"},
		"underscore":               {entryOf("skill://a_b/SKILL.md", "a_b"), "skill-name"},
		"blank":                    {entryOf("skill://x/a%20b/SKILL.md", "a b"), "skill-name"},
		"dot":                      {entryOf("skill://a.b/SKILL.md", "a.b"), "skill-name"},
		"hyphen first":             {entryOf("skill://-a/SKILL.md", "-a"), "skill-name"},
		"hyphen last":              {entryOf("skill://a-/SKILL.md", "a-"), "skill-name"},
		"two hyphens":              {entryOf("skill://a--b/SKILL.md", "a--b"), "skill-name"},
		"empty name":               {with(`"name":"a"`, `"name":""`), "skill-name"},
		"65 characters":            {entryOf("skill://"+strings.Repeat("a", 65)+"/SKILL.md", strings.Repeat("a", 65)), "skill-name"},
		"empty description":        {with("Does things.", " "), "skill-description"},
		"long description":         {with("Does things.", strings.Repeat("é", 1025)), "skill-description"},
		"without itself":           {strings.Replace(entryOf("skill://a/SKILL.md", "a", "skill://a/b.md"), fileOf("skill://a/SKILL.md")+",", "", 1), "skill-manifest"},
		"twice":                    {entryOf("skill://a/SKILL.md", "a", "skill://a/b.md", "skill://a/b.md"), "skill-manifest"},
		"twice, escaped":           {entryOf("skill://a/SKILL.md", "a", "skill://a/b.md", "skill://a/%62.md"), "skill-manifest"},
		"outside":                  {entryOf("skill://a/SKILL.md", "a", "skill://b/c.md"), "skill-manifest"},
		"dots at the authority":    {entryOf("skill://a/SKILL.md", "a", "skill://a/../b/c.md"), ""},
		"outside, by dots":         {entryOf("skill://x/a/SKILL.md", "a", "skill://x/a/../b/c.md"), "skill-manifest"},
		"outside, by escaped dots": {entryOf("skill://x/a/SKILL.md", "a", "skill://x/a/%2e%2e/b/c.md"), "skill-manifest"},
		"a prefix only":            {entryOf("skill://a/SKILL.md", "a", "skill://ab/c.md"), "skill-manifest"},
		"the directory":            {entryOf("skill://a/SKILL.md", "a", "skill://a"), "skill-manifest"},
		"another scheme's file":    {entryOf("skill://a/SKILL.md", "a", "file:///a/c.md"), "skill-manifest"},
		"relative file":            {entryOf("skill://a/SKILL.md", "a", "b.md"), "skill-manifest"},
		"a file that is text":      {with(`"resources":[`, `"resources":["skill://a/x.md",`), "skill-digest-format skill-manifest skill-size"},
		"no digest":                {with(`"digest":"sha256:`+hex64+`",`, ``), "skill-digest-format"},
		"digest in base64":         {with("sha256:"+hex64, "sha256-LCa0a2j/xo/5m0U8HTBBNBNCLXBkg7+g+YpeiGJm564="), "skill-digest-format"},
		"digest in uppercase":      {with(hex64, strings.ToUpper(hex64)), "skill-digest-format"},
		"digest without algorithm": {with("sha256:", ""), "skill-digest-format"},
		"short digest":             {with(hex64, hex64[:63]), "skill-digest-format"},
		"no size":                  {with(`,"size":3`, ``), "skill-size"},
		"size is text":             {with(`"size":3`, `"size":"3"`), "skill-size"},
		"negative size":            {with(`"size":3`, `"size":-1`), "skill-size"},
		"half a byte":              {with(`"size":3`, `"size":0.5`), "skill-size"},
		"513 files":                {entryOf("skill://a/SKILL.md", "a", many...), "skill-limits"},
		"more than 16 MiB":         {with(`"size":3`, `"size":16777217`), "skill-limits"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := skill.Read(parse(t, c.entry)).Judge()
			if got := strings.Join(rulesOf(found), " "); got != c.rules {
				t.Errorf("got %q, want %q: %v", got, c.rules, found)
			}
		})
	}
}

// What several entries break together.
func TestListings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		entries []string
		rules   string
	}{
		"two":            {[]string{entryOf("skill://a/SKILL.md", "a"), entryOf("skill://b/SKILL.md", "b")}, ""},
		"equal names":    {[]string{entryOf("skill://x/a/SKILL.md", "a"), entryOf("skill://y/a/SKILL.md", "a")}, "skill-duplicate-name"},
		"nested":         {[]string{entryOf("skill://a/SKILL.md", "a", "skill://a/b/SKILL.md"), entryOf("skill://a/b/SKILL.md", "b")}, ""},
		"nested, hidden": {[]string{entryOf("skill://a/SKILL.md", "a"), entryOf("skill://a/x/b/SKILL.md", "b")}, "skill-manifest"},
		"nested in a dynamic one": {[]string{
			`{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"d"},"resources":"dynamic"}`, entryOf("skill://a/b/SKILL.md", "b"),
		}, ""},
		"a prefix of the name": {[]string{entryOf("skill://a/SKILL.md", "a"), entryOf("skill://ab/SKILL.md", "ab")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var entries []skill.Entry
			for _, e := range c.entries {
				entries = append(entries, skill.Read(parse(t, e)))
			}
			found := skill.JudgeAll(entries)
			if got := strings.Join(rulesOf(found), " "); got != c.rules {
				t.Errorf("got %q, want %q: %v", got, c.rules, found)
			}
		})
	}
}

// The readings of YAML 1.1 and of 1.2 are both right; what neither gives is not.
func TestFrontmatter(t *testing.T) {
	t.Parallel()
	const want = "agree"
	for name, c := range map[string]struct{ yaml, entry, want string }{
		"equal":              {"name: a\ndescription: b", `{"name":"a","description":"b"}`, want},
		"order":              {"description: b\nname: a", `{"name":"a","description":"b"}`, want},
		"Windows line ends":  {"name: a\r\ndescription: |\r\n  x\r\n  y\r", `{"name":"a","description":"x\ny\n"}`, want},
		"folded":             {"d: >\n  x\n  y\nname: a", `{"name":"a","d":"x y\n"}`, want},
		"folded, stripped":   {"d: >-\n  x\n  y\nname: a", `{"name":"a","d":"x y"}`, want},
		"quoted":             {"d: 'it''s'\ne: \"\\u00e9\"", `{"d":"it's","e":"é"}`, want},
		"1.0 is 1":           {"v: 1.0", `{"v":1}`, want},
		"date as text":       {"v: 2024-05-01", `{"v":"2024-05-01"}`, want},
		"date as time":       {"v: 2024-05-01", `{"v":"2024-05-01T00:00:00.000Z"}`, want},
		"date of Python":     {"v: 2024-05-01 10:00:00", `{"v":"2024-05-01T10:00:00"}`, want},
		"yes as true":        {"v: yes", `{"v":true}`, want},
		"yes as text":        {"v: yes", `{"v":"yes"}`, want},
		"off as false":       {"v: Off", `{"v":false}`, want},
		"octal, 1.1":         {"v: 017", `{"v":15}`, want},
		"octal, 1.2":         {"v: 017", `{"v":17}`, want},
		"0o17":               {"v: 0o17", `{"v":15}`, want},
		"0o17 as text":       {"v: 0o17", `{"v":"0o17"}`, want},
		"underscores":        {"v: 1_000", `{"v":1000}`, want},
		"base 60":            {"v: 1:30", `{"v":90}`, want},
		"exponent as text":   {"v: 1e3", `{"v":"1e3"}`, want},
		"large number":       {"v: 12345678901234567890", `{"v":12345678901234567000}`, want},
		"null":               {"v:", `{"v":null}`, want},
		"infinity":           {"v: .inf", `{"v":null}`, want},
		"an alias":           {"a: &x [1, 2]\nb: *x", `{"a":[1,2],"b":[1,2]}`, want},
		"a comment":          {"# x\nname: a # y", `{"name":"a"}`, want},
		"hyphens in a block": {"d: |\n  ---\nname: a", `{"name":"a","d":"---\n"}`, want},
		"a merge":            {"a: &x {b: 1}\nc: {<<: *x}", `{"a":{"b":1},"c":{"<<":{"b":1}}}`, "unknown"},
		"a key that is true": {"yes: 1", `{"true":1}`, "unknown"},
		"a tag":              {"v: !!binary aGk=", `{"v":"aGk="}`, "unknown"},
		"a key twice":        {"a: 1\na: 2", `{"a":2}`, "unknown"},
		"other text":         {"name: a", `{"name":"b"}`, "frontmatter.name is \"a\" in SKILL.md, and \"b\" in the entry"},
		"quoted number":      {"v: '1'", `{"v":1}`, "frontmatter.v"},
		"number as text":     {"v: 1.0", `{"v":"1.0"}`, "unknown"},
		"integer as text":    {"v: 1", `{"v":"1"}`, "unknown"},
		"bool as text":       {"v: true", `{"v":"true"}`, "unknown"},
		"null as text":       {"v:", `{"v":""}`, "unknown"},
		"another number":     {"v: 1.0", `{"v":"2.0"}`, "frontmatter.v"},
		"another bool":       {"v: true", `{"v":"false"}`, "frontmatter.v"},
		"quoted yes":         {"v: 'yes'", `{"v":true}`, "frontmatter.v"},
		"yes as false":       {"v: yes", `{"v":false}`, "frontmatter.v"},
		"another date":       {"v: 2024-05-01", `{"v":"2024-05-02"}`, "frontmatter.v"},
		"a line break lost":  {"d: |\n  x", `{"d":"x"}`, "frontmatter.d"},
		"missing":            {"name: a\nlicense: MIT", `{"name":"a"}`, "frontmatter.license is in SKILL.md, but not in the entry"},
		"invented":           {"name: a", `{"name":"a","license":"MIT"}`, "frontmatter.license is in the entry, but not in SKILL.md"},
		"deep":               {"m: {a: {b: [1, {c: 2}]}}", `{"m":{"a":{"b":[1,{"c":3}]}}}`, "frontmatter.m.a.b[1].c is 2"},
		"shorter list":       {"l: [1, 2]", `{"l":[1]}`, "frontmatter.l"},
		"no YAML":            {"description: Use when: x", `{"description":"Use when: x"}`, "not valid YAML"},
		"no map":             {"- a", `{"name":"a"}`, "not a map"},
		"empty":              {"", `{"name":"a"}`, "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := skill.Entry{Frontmatter: parse(t, c.entry)}
			if got := describe(e.CompareFrontmatter("---\n" + c.yaml + "\n---\n# Body\n")); !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func describe(c skill.Comparison) string {
	switch {
	case c.Problem != "":
		return "differs: " + c.Problem
	case c.Unknown != "":
		return "unknown: " + c.Unknown
	}
	return "agree"
}

// Where the frontmatter begins and ends.
func TestFences(t *testing.T) {
	t.Parallel()
	e := skill.Entry{Frontmatter: parse(t, `{"name":"a"}`)}
	for text, want := range map[string]string{
		"---\nname: a\n---\n":        "agree",
		"\ufeff---\nname: a\n---":    "agree",
		"---  \nname: a\n---\t\nx":   "agree",
		"---\r\nname: a\r\n---\r\nx": "agree",
		"---\rname: a\r---\rx":       "agree",
		"--- # x\nname: a\n---\n":    "unknown",
		"name: a\n":                  "does not begin",
		"\n---\nname: a\n---\n":      "does not begin",
		"# T\n---\nname: a\n---\n":   "does not begin",
		"---\nname: a\n":             "no end",
		"---\nname: a\n ---\n":       "differs",
		"----\nname: a\n----\n":      "does not begin",
		"":                           "does not begin",
	} {
		if got := describe(e.CompareFrontmatter(text)); !strings.Contains(got, want) {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

// What is read is compared byte by byte; a blob is decoded.
func TestContents(t *testing.T) {
	t.Parallel()
	file := func(size int) skill.File {
		def := parse(t, fmt.Sprintf(`{"uri":"skill://a/x","frontmatter":{},"resources":[{"uri":"skill://a/x","digest":"%s","size":%d}]}`, skill.Look([]byte("hé\r\n")).Digest, size))
		return skill.Read(def).Files[0]
	}
	for contents, want := range map[string]string{
		`[{"uri":"skill://a/x","text":"hé\r\n"}]`:                                   "",
		`[{"uri":"skill://a/x","blob":"aMOpDQo="}]`:                                 "",
		`[{"uri":"skill://a/y","text":"no"},{"uri":"skill://a/x","text":"hé\r\n"}]`: "",
		`[{"uri":"skill://a/x","text":"","blob":"aMOpDQo="}]`:                       "",
		`[{"uri":"skill://a/x","text":"hé\n"}]`:                                     "skill-size skill-digest",
		`[{"uri":"skill://a/x","text":"he\r\nx"}]`:                                  "skill-digest",
		`[]`:                                 "error",
		`[{"uri":"skill://a/x"}]`:            "error",
		`[{"uri":"skill://a/x","blob":"?"}]`: "error",
	} {
		data, _, err := skill.Content("skill://a/x", parse(t, `{"contents":`+contents+`}`))
		got := "error"
		if err == nil {
			got = strings.Join(rulesOf(file(5).Compare(skill.Look(data))), " ")
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", contents, got, want)
		}
	}
}

// A manifest with 100,000 wrong files gives a few findings, in the time of reading it.
func TestLargeManifest(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"d"},"resources":[`)
	for i := range 100_000 {
		fmt.Fprintf(&b, `{"uri":"skill://b/%d","digest":"x","size":-1},`, i)
	}
	b.WriteString(fileOf("skill://a/SKILL.md") + "]}")
	e := skill.Read(parse(t, b.String()))
	start := time.Now()
	found := e.Judge()
	if n := len(found); n > 40 || len(e.Files) != 100_001 {
		t.Errorf("%d findings, %d files", n, len(e.Files))
	}
	if !slices.ContainsFunc(found, func(f skill.Finding) bool { return f.Message == "and 99990 more" }) {
		t.Error(found)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

// A URI with very many directories is no work for its square.
func TestDeepURI(t *testing.T) {
	t.Parallel()
	uri := "skill:/" + strings.Repeat("/a", 500_000) + "/SKILL.md"
	e := skill.Read(parse(t, entryOf(uri, "a")))
	start := time.Now()
	skill.JudgeAll([]skill.Entry{e, e})
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
}
