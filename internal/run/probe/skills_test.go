package probe_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/term"
	"mcptest/internal/client/mcp"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/run/probe"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/spec/plan"
)

// plantedSkill is a server with skills. A defect has the rule that it breaks, and those that it
// breaks besides.
type plantedSkill struct {
	name, rule, also string
	plant            func(*skilled)
}

// refusing answers a method with an error.
func refusing(method string, code int) func(*skilled) {
	return func(s *skilled) {
		s.answer = func(_ *skilled, m message) (object, *failure, bool) {
			return nil, fail(code, "not here"), m.Method == method
		}
	}
}

// altering changes the results of a method.
func altering(method string, change func(m message, res object)) func(*skilled) {
	return func(s *skilled) {
		s.alter = func(m message, res object) {
			if m.Method == method {
				change(m, res)
			}
		}
	}
}

// without removes a member of the results of a method.
func without(method, key string) func(*skilled) {
	return altering(method, func(_ message, res object) { delete(res, key) })
}

// skillCases have one defect each.
var skillCases = []plantedSkill{
	{"skills/list is not implemented", "skill-list", "", refusing("skills/list", -32601)},
	{"skills/get is not implemented", "skill-get", "", refusing("skills/get", -32601)},
	{"directoryRead is declared and not implemented", "skill-directory", "", refusing("resources/directory/read", -32601)},
	{"one directory is not read", "skill-directory", "", func(s *skilled) {
		s.answer = func(_ *skilled, m message) (object, *failure, bool) {
			return nil, fail(-32602, "no directory"), m.Method == "resources/directory/read" && m.params["uri"] == "skill://acme/refunds/scripts"
		}
	}},
	{"resources is not declared", "skill-capability", "", func(s *skilled) { s.bare = true }},
	{"an unknown skill is -32002", "skill-unknown", "", func(s *skilled) {
		s.answer = func(s *skilled, m message) (object, *failure, bool) {
			return nil, fail(-32002, "no skill"), m.Method == "skills/get" && s.files[fmt.Sprint(m.params["uri"])] == nil
		}
	}},
	{"an unknown skill is served", "skill-unknown", "", func(s *skilled) {
		s.answer = func(s *skilled, m message) (object, *failure, bool) {
			return object{"skill": s.skills[0]}, nil, m.Method == "skills/get" && s.files[fmt.Sprint(m.params["uri"])] == nil
		}
	}},
	{"an unknown skill is -32601", "skill-unknown", "", func(s *skilled) {
		s.answer = func(s *skilled, m message) (object, *failure, bool) {
			return nil, fail(-32601, "no such skill"), m.Method == "skills/get" && s.files[fmt.Sprint(m.params["uri"])] == nil
		}
	}},
	{"an unknown skill has an entry, and no text", "skill-unknown", "", func(s *skilled) {
		s.answer = func(s *skilled, m message) (object, *failure, bool) {
			uri := fmt.Sprint(m.params["uri"])
			return object{"skill": entryOfAny(uri, textOf(nameOfAny(uri), ""))}, nil, m.Method == "skills/get" && s.files[uri] == nil
		}
	}},
	{"a listed skill is -32601", "skill-served", "", func(s *skilled) {
		s.answer = func(_ *skilled, m message) (object, *failure, bool) {
			return nil, fail(-32601, "no such skill"), m.Method == "skills/get" && m.params["uri"] == "skill://acme/refunds/SKILL.md"
		}
	}},
	{"a listed skill is not served", "skill-served", "", func(s *skilled) {
		s.answer = func(_ *skilled, m message) (object, *failure, bool) {
			return nil, fail(-32602, "no skill"), m.Method == "skills/get" && m.params["uri"] == "skill://acme/refunds/SKILL.md"
		}
	}},
	{"skills/get returns another skill", "skill-served", "", func(s *skilled) {
		s.answer = func(s *skilled, m message) (object, *failure, bool) {
			return object{"skill": clone(s.skills[0])}, nil, m.Method == "skills/get" && m.params["uri"] == "skill://acme/refunds/SKILL.md"
		}
	}},
	{"an entry without a name", "skill-entry", "skill-frontmatter", func(s *skilled) { delete(s.matter(0), "name") }},
	{"an entry without a description", "skill-entry", "skill-frontmatter", func(s *skilled) { delete(s.matter(1), "description") }},
	{"an entry without resources", "skill-entry", "", func(s *skilled) { delete(s.skills[1], "resources") }},
	{"resources is another text", "skill-entry", "", func(s *skilled) { s.skills[1]["resources"] = "generated" }},
	{"skills/get lacks resources", "skill-entry", "", altering("skills/get", func(_ message, res object) {
		delete(res["skill"].(object), "resources")
	})},
	{"skills/list has no list", "skill-entry", "", altering("skills/list", func(_ message, res object) { delete(res, "skills") })},
	{"a URI that is a directory", "skill-uri", "skill-manifest skill-readable", func(s *skilled) { s.skills[0]["uri"] = "skill://git-workflow" }},
	{"a file in lowercase", "skill-uri", "", func(s *skilled) {
		s.skills[0] = object{"uri": "skill://git-workflow/skill.md", "frontmatter": matterOf("git-workflow"), "resources": []object{s.file("skill://git-workflow/skill.md", textOf("git-workflow", ""))}}
		s.types["skill://git-workflow/skill.md"] = "text/markdown"
	}},
	{"the directory has another name", "skill-name-path", "", func(s *skilled) {
		s.rename(0, "skill://git-workflow", "git-work")
	}},
	{"an uppercase name", "skill-name", "", func(s *skilled) { s.rename(0, "skill://x/Git-Workflow", "Git-Workflow") }},
	{"an underscore in a name", "skill-name", "", func(s *skilled) { s.rename(0, "skill://git_workflow", "git_workflow") }},
	{"two hyphens in a name", "skill-name", "", func(s *skilled) { s.rename(0, "skill://git--workflow", "git--workflow") }},
	{"a name of 65 characters", "skill-name", "", func(s *skilled) {
		s.rename(0, "skill://x/"+strings.Repeat("a", 65), strings.Repeat("a", 65))
	}},
	{"a description of 1025 characters", "skill-description", "", func(s *skilled) {
		long := strings.Repeat("ä", 1025)
		s.matter(0)["description"] = long
		s.write(0, "---\nname: git-workflow\ndescription: "+long+"\n---\n")
	}},
	{"a field that the entry lacks", "skill-frontmatter", "", func(s *skilled) { delete(s.matter(1), "license") }},
	{"a description that is another one", "skill-frontmatter", "", func(s *skilled) { s.matter(0)["description"] = "Does others." }},
	{"SKILL.md without frontmatter", "skill-frontmatter", "", func(s *skilled) { s.write(0, "# Git\n") }},
	{"frontmatter that is no YAML", "skill-frontmatter", "", func(s *skilled) {
		s.write(0, "---\nname: git-workflow\ndescription: Use when: always\n---\n")
	}},
	{"skills/list has an old description", "skill-frontmatter", "", altering("skills/list", func(_ message, res object) {
		res["skills"].([]object)[0]["frontmatter"].(object)["description"] = "Old."
	})},
	{"a manifest without SKILL.md", "skill-manifest", "", func(s *skilled) { s.skills[1]["resources"] = s.manifest(1)[1:] }},
	{"a file twice", "skill-manifest", "", func(s *skilled) { s.skills[1]["resources"] = append(s.manifest(1), s.manifest(1)[1]) }},
	{"a file of another skill", "skill-manifest", "", func(s *skilled) {
		s.skills[1]["resources"] = append(s.manifest(1), s.file("skill://acme/other/x.md", "x"))
	}},
	{"a file outside, by dots", "skill-manifest", "", func(s *skilled) {
		s.skills[1]["resources"] = append(s.manifest(1), s.file("skill://acme/refunds/../other/x.md", "x"))
	}},
	{"a nested skill that the outer one hides", "skill-manifest", "", func(s *skilled) {
		s.add("skill://acme/refunds/inner", textOf("inner", ""))
	}},
	{"a digest in base64", "skill-digest-format", "", func(s *skilled) { s.manifest(1)[1]["digest"] = "sha256:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=" }},
	{"no digest", "skill-digest-format", "", func(s *skilled) { delete(s.manifest(1)[1], "digest") }},
	{"no size", "skill-size", "", func(s *skilled) { delete(s.manifest(1)[1], "size") }},
	{"a negative size", "skill-size", "", func(s *skilled) { s.manifest(1)[1]["size"] = -1 }},
	{"the size in characters", "skill-size", "", func(s *skilled) {
		f := s.file("skill://acme/refunds/references/A.md", "Grüße\n")
		f["size"] = 6
		s.manifest(1)[1] = f
	}},
	{"the digest of another text", "skill-digest", "", func(s *skilled) {
		s.files["skill://acme/refunds/references/A.md"] = "# B\n"
	}},
	{"the digest of other line ends", "skill-digest", "skill-size", func(s *skilled) {
		s.files["skill://acme/refunds/SKILL.md"] = strings.ReplaceAll(textOf("refunds", "license: MIT\n"), "\n", "\r\n")
	}},
	{"the digest of a blob's base64", "skill-digest", "skill-size", func(s *skilled) {
		f := s.file("skill://acme/refunds/logo.png", base64Of("\x89PNG\x00\x01"))
		s.files["skill://acme/refunds/logo.png"] = []byte("\x89PNG\x00\x01")
		s.skills[1]["resources"] = append(s.manifest(1), f)
	}},
	{"a file that is made anew for each read", "skill-digest", "", func(s *skilled) {
		n := 0
		s.answer = func(_ *skilled, m message) (object, *failure, bool) {
			if m.Method != "resources/read" || m.params["uri"] != "skill://acme/refunds/references/A.md" {
				return nil, nil, false
			}
			n++
			return object{"contents": []object{{"uri": m.params["uri"], "text": fmt.Sprintf("# %d\n", n%10)}}}, nil, true
		}
	}},
	{"SKILL.md cannot be read", "skill-readable", "", func(s *skilled) {
		delete(s.files, "skill://git-workflow/SKILL.md")
		s.files["skill://git-workflow/x"] = "so that there is a directory"
		s.answer = func(_ *skilled, m message) (object, *failure, bool) {
			return object{"resources": []object{{"uri": "skill://git-workflow/SKILL.md", "name": "SKILL.md"}}}, nil, m.Method == "resources/directory/read" && m.params["uri"] == "skill://git-workflow"
		}
	}},
	{"skills/list without ttlMs", "skill-cache", "", without("skills/list", "ttlMs")},
	{"skills/get without cacheScope", "skill-cache", "", without("skills/get", "cacheScope")},
	{"skills/list without resultType", "skill-result-type", "", without("skills/list", "resultType")},
	{"resultType of a directory is done", "skill-result-type", "", altering("resources/directory/read", func(_ message, res object) { res["resultType"] = "done" })},
	{"a directory that does not exist is empty", "skill-directory-error", "", func(s *skilled) {
		s.answer = func(_ *skilled, m message) (object, *failure, bool) {
			uri, _ := m.params["uri"].(string)
			return object{"resources": []object{}}, nil, m.Method == "resources/directory/read" && strings.Contains(uri, "no-such")
		}
	}},
	{"a file is read as a directory", "skill-directory-error", "", func(s *skilled) {
		s.answer = func(_ *skilled, m message) (object, *failure, bool) {
			uri, _ := m.params["uri"].(string)
			return object{"resources": []object{}}, nil, m.Method == "resources/directory/read" && strings.HasSuffix(uri, ".md")
		}
	}},
	{"a file of the manifest cannot be read", "skill-file-readable", "", func(s *skilled) {
		s.answer = func(_ *skilled, m message) (object, *failure, bool) {
			return nil, fail(-32602, "no such resource"), m.Method == "resources/read" && m.params["uri"] == "skill://acme/refunds/empty.txt"
		}
	}},
	{"a directory without one of its files", "skill-directory-children", "", altering("resources/directory/read", func(m message, res object) {
		if m.params["uri"] == "skill://acme/refunds" {
			res["resources"] = res["resources"].([]object)[1:]
		}
	})},
	{"a directory whose directories have no type", "skill-directory-children", "", altering("resources/directory/read", func(_ message, res object) {
		for _, child := range res["resources"].([]object) {
			delete(child, "mimeType")
		}
	})},
	{"the same page for each cursor", "skill-pages", "", altering("skills/list", func(m message, res object) {
		res["nextCursor"] = fmt.Sprint(m.params["cursor"], "+")
	})},
	{"a cursor twice", "skill-pages", "", altering("resources/directory/read", func(m message, res object) {
		if m.params["cursor"] != nil {
			res["resources"] = []object{}
		}
		res["nextCursor"] = "again"
	})},
	{"SKILL.md is plain text", "skill-mime", "", func(s *skilled) { s.types["skill://git-workflow/SKILL.md"] = "text/plain" }},
	{"a resource with another name", "skill-resource-name", "", func(s *skilled) {
		s.resources = []object{{"uri": "skill://git-workflow/SKILL.md", "name": "SKILL.md", "description": "Does things.", "mimeType": "text/markdown"}}
	}},
	{"a resource without a description", "skill-resource-description", "", func(s *skilled) {
		s.resources = []object{{"uri": "skill://git-workflow/SKILL.md", "name": "git-workflow", "mimeType": "text/markdown"}}
	}},
	{"two skills with one name", "skill-duplicate-name", "", func(s *skilled) { s.add("skill://other/refunds", textOf("refunds", "")) }},
	{"513 files", "skill-limits", "", func(s *skilled) {
		for i := range 512 {
			s.skills[0]["resources"] = append(s.manifest(0), s.file(fmt.Sprintf("skill://git-workflow/f%d", i), "x"))
		}
	}},
	{"16 MiB and a byte", "skill-limits", "", func(s *skilled) {
		big := object{"uri": "skill://git-workflow/big", "digest": "sha256:" + strings.Repeat("0", 64), "size": 16 << 20}
		s.skills[0]["resources"] = append(s.manifest(0), big)
		s.files["skill://git-workflow/big"] = "not so big, and not read"
	}},
	{"skills/list answers, undeclared", "skill-undeclared", "", func(s *skilled) { s.declared = nil }},
}

// oddSkills are correct servers that look wrong.
var oddSkills = []plantedSkill{
	{name: "two skills", plant: func(*skilled) {}},
	{name: "an empty list", plant: altering("skills/list", func(_ message, res object) { res["skills"] = []object{} })},
	{name: "a partial list", plant: altering("skills/list", func(_ message, res object) { res["skills"] = res["skills"].([]object)[:1] })},
	{name: "dynamic", plant: func(s *skilled) {
		s.skills[1]["resources"] = "dynamic"
		n := 0
		s.answer = func(_ *skilled, m message) (object, *failure, bool) {
			if m.Method != "resources/read" || m.params["uri"] != "skill://acme/refunds/SKILL.md" {
				return nil, nil, false
			}
			n++
			return object{"contents": []object{{"uri": m.params["uri"], "mimeType": "text/markdown", "text": textOf("refunds", "license: MIT\n") + fmt.Sprint(n)}}}, nil, true
		}
	}},
	{name: "no directoryRead", plant: func(s *skilled) {
		s.declared = object{}
		s.answer = func(_ *skilled, m message) (object, *failure, bool) {
			if m.Method == "resources/directory/read" {
				panic("asked, although it is not declared")
			}
			return nil, nil, false
		}
	}},
	{name: "another scheme", plant: func(s *skilled) {
		s.add("github://owner/repo/skills/deploy", textOf("deploy", ""), "references/A.md", "# A\n")
	}},
	{name: "nested", plant: func(s *skilled) {
		inner := s.add("skill://acme/refunds/inner", textOf("inner", ""), "x.md", "x")
		s.skills[1]["resources"] = append(s.manifest(1), inner["resources"].([]object)...)
	}},
	{name: "Windows line ends", plant: func(s *skilled) { s.write(0, strings.ReplaceAll(textOf("git-workflow", ""), "\n", "\r\n")) }},
	{name: "a byte order mark", plant: func(s *skilled) { s.write(0, "\ufeff"+textOf("git-workflow", "")) }},
	{name: "folded and quoted", plant: func(s *skilled) {
		s.matter(0)["metadata"] = object{"version": "1.0", "tags": []string{"a", "b"}}
		s.write(0, "---\nmetadata: {tags: [a, 'b'], version: \"1.0\"}\ndescription: >-\n  Does\n  things.\nname: 'git-workflow'\n---\n")
	}},
	{name: "dates and yes as YAML 1.1 has them", plant: func(s *skilled) {
		s.matter(0)["released"], s.matter(0)["stable"], s.matter(0)["level"] = "2026-01-02T00:00:00.000Z", true, 1
		s.write(0, textOf("git-workflow", "released: 2026-01-02\nstable: yes\nlevel: 1.0\n"))
	}},
	{name: "dates and yes as YAML 1.2 has them", plant: func(s *skilled) {
		s.matter(0)["released"], s.matter(0)["stable"] = "2026-01-02", "yes"
		s.write(0, textOf("git-workflow", "released: 2026-01-02\nstable: yes\n"))
	}},
	{name: "a name in German", plant: func(s *skilled) { s.rename(0, "skill://x/über", "über") }},
	{name: "a name in German, escaped", plant: func(s *skilled) {
		s.rename(0, "skill://x/%C3%BCber", "über")
		s.skills[0]["resources"] = append(s.manifest(0), s.file("skill://x/über/a.md", "x"))
	}},
	{name: "a binary file", plant: func(s *skilled) {
		s.skills[0]["resources"] = append(s.manifest(0), s.file("skill://git-workflow/logo.png", []byte("\x89PNG\x00\xff")))
	}},
	{name: "more files than the manifest", plant: func(s *skilled) { s.files["skill://acme/refunds/new.md"] = "new" }},
	{name: "a skill on each page", plant: altering("skills/list", func(m message, res object) {
		all := res["skills"].([]object)
		if m.params["cursor"] == "2" {
			res["skills"] = all[1:]
			return
		}
		res["skills"], res["nextCursor"] = all[:1], "2"
	})},
	{name: "an empty page", plant: altering("skills/list", func(m message, res object) {
		if m.params["cursor"] == nil {
			res["skills"], res["nextCursor"] = []object{}, "2"
		}
	})},
	{name: "a type with a charset", plant: func(s *skilled) { s.types["skill://git-workflow/SKILL.md"] = "text/markdown; charset=utf-8" }},
	{name: "listed as resources", plant: func(s *skilled) {
		delete(s.types, "skill://git-workflow/SKILL.md")
		s.resources = []object{{"uri": "skill://git-workflow/SKILL.md", "name": "git-workflow", "description": "Does things.", "mimeType": "text/markdown"}}
	}},
	{name: "a file that changes once", plant: func(s *skilled) {
		s.answer = func(s *skilled, m message) (object, *failure, bool) {
			if m.Method == "resources/read" && m.params["uri"] == "skill://acme/refunds/references/A.md" && s.asked["resources/read"] < 6 {
				s.manifest(1)[1] = s.file("skill://acme/refunds/references/A.md", "# New\n")
			}
			return nil, nil, false
		}
	}},
	{name: "for clients that declare it", plant: func(s *skilled) {
		s.answer = func(s *skilled, m message) (object, *failure, bool) {
			switch {
			case m.declares():
			case m.Method == "server/discover":
				return object{"supportedVersions": []string{"2026-07-28"}, "capabilities": object{"resources": object{}}}, nil, true
			case strings.HasPrefix(m.Method, "skills/") || m.Method == "resources/read":
				return nil, fail(-32601, "method not found"), true
			}
			return nil, nil, false
		}
	}},
	{name: "a description of 1024 characters", plant: func(s *skilled) {
		long := strings.Repeat("ä", 1024)
		s.matter(0)["description"] = long
		s.write(0, "---\nname: git-workflow\ndescription: "+long+"\n---\n")
	}},
	{name: "a catalog that makes a skill for each name", plant: func(s *skilled) {
		s.answer = func(s *skilled, m message) (object, *failure, bool) {
			uri := fmt.Sprint(m.params["uri"])
			text := textOf(nameOfAny(uri), "")
			switch {
			case s.files[uri] != nil || !strings.HasSuffix(uri, "/SKILL.md"):
			case m.Method == "skills/get":
				return object{"skill": entryOfAny(uri, text)}, nil, true
			case m.Method == "resources/read":
				return object{"contents": []object{{"uri": uri, "mimeType": "text/markdown", "text": text}}}, nil, true
			}
			return nil, nil, false
		}
	}},
	{name: "a nested skill that grows between two pages", plant: func(s *skilled) {
		const added = "skill://acme/refunds/inner/new.md"
		inner := s.add("skill://acme/refunds/inner", textOf("inner", ""))
		s.skills[1]["resources"] = append(s.manifest(1), inner["resources"].([]object)...)
		s.alter = func(m message, res object) {
			if m.Method != "skills/list" {
				return
			}
			if m.params["cursor"] == nil {
				res["skills"], res["nextCursor"] = clone(s.skills[:2]), "2"
				if s.files[added] == nil {
					one := s.file(added, "new")
					inner["resources"] = append(inner["resources"].([]object), one)
					s.skills[1]["resources"] = append(s.manifest(1), one)
				}
				return
			}
			res["skills"] = clone(s.skills[2:])
		}
	}},
	{name: "no skills at all", plant: func(s *skilled) { s.skills = []object{} }},
}

// nameOfAny is the name of the skill at a URI, and entryOfAny its entry.
func nameOfAny(uri string) string { return path.Base(path.Dir(uri)) }

func entryOfAny(uri, text string) object {
	file := object{"uri": uri, "digest": fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))), "size": len(text)}
	return object{"uri": uri, "frontmatter": matterOf(nameOfAny(uri)), "resources": []object{file}}
}

func base64Of(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// probeSkills probes a server with skills.
func probeSkills(t *testing.T, s *skilled, change func(*probe.Options)) verdict.Report {
	t.Helper()
	o := probe.Options{
		Server: &plan.Server{
			Name: "skilled", Argv: []string{"skilled"}, Transport: "auto", Protocol: mcp.Auto, Timeout: time.Minute, ConnectTimeout: 20 * time.Second,
			Tolerate: map[string]bool{}, ValidateOutput: true,
		},
		Client: mcp.Implementation{Name: "test", Version: "1"}, Dial: s.dial, Seed: 1, Reply: 10 * time.Second, Only: []string{"skills"},
	}
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	rep, err := probe.Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// failedRules are the rules that failed.
func failedRules(rep verdict.Report) (out []string) {
	for _, x := range rep.Results {
		if x.Verdict == verdict.Fail {
			out = append(out, x.Rule)
		}
	}
	return out
}

// resultOf is the result of a rule.
func resultOf(t *testing.T, rep verdict.Report, rule string) verdict.Result {
	t.Helper()
	i := slices.IndexFunc(rep.Results, func(x verdict.Result) bool { return x.Rule == rule })
	if i < 0 {
		t.Fatalf("no result of %s", rule)
	}
	return rep.Results[i]
}

// Each defect breaks its rule, and no other one.
func TestPlantedSkills(t *testing.T) {
	t.Parallel()
	for _, c := range skillCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSkilled()
			c.plant(s)
			rep := probeSkills(t, s, nil)
			want := strings.Fields(c.rule + " " + c.also)
			got := failedRules(rep)
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("failed: %v, want %v\n%s", got, want, strings.Join(failed(rep, true), "\n"))
			}
		})
	}
}

// Correct servers break no rule of any level, and what applies was verified.
func TestOddSkills(t *testing.T) {
	t.Parallel()
	for _, c := range oddSkills {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSkilled()
			c.plant(s)
			rep := probeSkills(t, s, nil)
			for _, line := range failed(rep, true) {
				t.Error(line)
			}
			if x := resultOf(t, rep, "skill-list"); x.Verdict != verdict.Pass {
				t.Errorf("skill-list is %s: %s", x.Verdict, x.Reason)
			}
			if tally := rep.Tally(""); tally.Passed < 5 {
				t.Errorf("only %d rules passed", tally.Passed)
			}
		})
	}
}

// What the limits leave out is not verified, with its number; what was read is.
func TestManySkills(t *testing.T) {
	t.Parallel()
	s := newSkilled()
	for i := range 23 {
		s.add(fmt.Sprintf("skill://many/skill-%d", i), textOf(fmt.Sprintf("skill-%d", i), ""))
	}
	for i := range 250 {
		s.skills[0]["resources"] = append(s.manifest(0), s.file(fmt.Sprintf("skill://git-workflow/f%d", i), "x"))
	}
	rep := probeSkills(t, s, nil)
	for _, line := range failed(rep, true) {
		t.Error(line)
	}
	for rule, want := range map[string]string{
		"skill-served": "5 of 25 skills were not read: at most 20 are",
		"skill-digest": "5 of 25 skills were not read: at most 20 are; 54 files were not read: at most 200 or 16 MiB are",
	} {
		if x := resultOf(t, rep, rule); x.Verdict != verdict.NotVerified || !strings.Contains(x.Reason, want) {
			t.Errorf("%s: %s %s, want %s", rule, x.Verdict, x.Reason, want)
		}
	}
	if n := len(s.reads); n < 200 || n > 225 {
		t.Errorf("%d files were read", n)
	}
	if s.asked["skills/get"] > 30 {
		t.Errorf("skills/get was asked %d times", s.asked["skills/get"])
	}
}

// A list without an end, a directory without an end and a very long manifest cost a
// bounded number of requests, and no rule of level must is broken by them.
func TestEndlessSkills(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(*skilled){
		"list": altering("skills/list", func(_ message, res object) {
			n := rand.Text()
			root := "skill://endless/a-" + strings.ToLower(n)
			res["skills"] = []object{{"uri": root + "/SKILL.md", "frontmatter": matterOf("a-" + strings.ToLower(n)), "resources": "dynamic"}}
			res["nextCursor"] = n
		}),
		"directory": altering("resources/directory/read", func(m message, res object) {
			n := rand.Text()
			res["resources"] = []object{{"uri": fmt.Sprint(m.params["uri"], "/", n), "name": n}}
			res["nextCursor"] = n
		}),
		"manifest": func(s *skilled) {
			list := s.manifest(0)
			for i := range 20_000 {
				list = append(list, object{"uri": fmt.Sprintf("skill://git-workflow/d%d/e/f", i), "digest": "sha256:" + strings.Repeat("0", 64), "size": 1})
			}
			s.skills[0]["resources"] = list
			s.answer = func(_ *skilled, m message) (object, *failure, bool) {
				uri, _ := m.params["uri"].(string)
				isBelow := strings.HasPrefix(uri, "skill://git-workflow/d")
				return object{"resources": []object{}}, nil, isBelow && m.Method == "resources/directory/read"
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSkilled()
			plant(s)
			rep := probeSkills(t, s, nil)
			for _, x := range rep.Results {
				if x.Verdict == verdict.Fail && x.Level == ruleset.Must && name != "list" {
					t.Errorf("%s: %v", x.Rule, x.Failures[0].Message)
				}
				if len(x.Failures) > 30 {
					t.Errorf("%s has %d failures", x.Rule, len(x.Failures))
				}
			}
			for method, n := range s.asked {
				if n > 10_000 {
					t.Errorf("%d requests of %s", n, method)
				}
			}
		})
	}
}

// A server that is silent about skills ends in its time, and breaks no rule of them.
func TestSilentSkills(t *testing.T) {
	t.Parallel()
	s := newSkilled()
	served := make(chan struct{})
	t.Cleanup(func() { close(served) })
	s.answer = func(_ *skilled, m message) (object, *failure, bool) {
		if strings.HasPrefix(m.Method, "skills/") {
			<-served
		}
		return nil, nil, false
	}
	rep := probeSkills(t, s, func(o *probe.Options) { o.Reply = 200 * time.Millisecond })
	if got := failedRules(rep); len(got) > 0 {
		t.Errorf("failed: %v", got)
	}
	if x := resultOf(t, rep, "skill-list"); x.Verdict != verdict.NotVerified {
		t.Errorf("skill-list is %s", x.Verdict)
	}
}

// In a session of an earlier revision no rule applies, and one note says why.
func TestSkillsOfSessions(t *testing.T) {
	t.Parallel()
	s := newSkilled()
	s.version = "2025-11-25"
	rep := probeSkills(t, s, func(o *probe.Options) { o.Server.Protocol = "2025-11-25" })
	notes := 0
	for _, x := range rep.Results {
		notes += len(x.Notes)
		if x.Verdict != verdict.NotApplicable {
			t.Errorf("%s is %s", x.Rule, x.Verdict)
		}
	}
	if notes != 1 || len(rep.Results) < 25 {
		t.Errorf("%d notes, %d results", notes, len(rep.Results))
	}
	if n := s.asked["skills/list"]; n > 0 {
		t.Errorf("skills/list was requested %d times", n)
	}
}

// A server without skills has no results about them, unless they are asked for, and is asked
// for nothing but whether it declares them.
func TestNoSkills(t *testing.T) {
	t.Parallel()
	bare := func() *skilled {
		s := newSkilled()
		s.declared = nil
		s.answer = func(_ *skilled, m message) (object, *failure, bool) {
			return nil, fail(-32601, "method not found"), strings.HasPrefix(m.Method, "skills/")
		}
		return s
	}
	s := bare()
	rep := probeSkills(t, s, func(o *probe.Options) { o.Only = []string{"resources", "capabilities", "messages", "skill-dynamic"} })
	for _, x := range rep.Results {
		if x.Family == "skills" && (x.Rule != "skill-dynamic" || x.Verdict != verdict.NotApplicable) {
			t.Errorf("%s is %s", x.Rule, x.Verdict)
		}
	}
	s = bare()
	rep = probeSkills(t, s, func(o *probe.Options) { o.Only = nil })
	if i := slices.IndexFunc(rep.Results, func(x verdict.Result) bool { return x.Family == "skills" }); i >= 0 {
		t.Errorf("a result of %s", rep.Results[i].Rule)
	}
	if s.asked["skills/list"] > 0 {
		t.Error("skills/list was requested")
	}
	rep = probeSkills(t, bare(), nil)
	if x := resultOf(t, rep, "skill-list"); x.Verdict != verdict.NotApplicable || x.Reason != "the server does not declare io.modelcontextprotocol/skills" {
		t.Errorf("skill-list is %s: %s", x.Verdict, x.Reason)
	}
	if x := resultOf(t, rep, "skill-undeclared"); x.Verdict != verdict.Pass {
		t.Errorf("skill-undeclared is %s: %s", x.Verdict, x.Reason)
	}
}

// Names that try to write to the terminal are escaped, and long ones are cut.
func TestHostileSkills(t *testing.T) {
	t.Parallel()
	s := newSkilled()
	evil := "skill://x/\x1b[31m\u202e" + strings.Repeat("y", 100_000) + "/SKILL.md"
	s.skills = append(s.skills, object{"uri": evil, "frontmatter": object{"name": "\x1b]0;owned\a", "description": strings.Repeat("z", 2_000_000)}, "resources": "dynamic"})
	rep := probeSkills(t, s, nil)
	rules, err := ruleset.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"text", "json", "md", "sarif", "github"} {
		var b strings.Builder
		if err := rep.Document(rules, ruleset.Must, term.Palette{}, "1").Write(&b, format); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.String(), "\x1b\a\u202e") && format != "json" {
			t.Errorf("%s shows control characters", format)
		}
		if b.Len() > 200_000 {
			t.Errorf("%s has %d bytes", format, b.Len())
		}
	}
	for _, rule := range []string{"skill-name", "skill-description", "skill-readable"} {
		if !slices.Contains(failedRules(rep), rule) {
			t.Errorf("%s did not fail: %v", rule, failedRules(rep))
		}
	}
}
