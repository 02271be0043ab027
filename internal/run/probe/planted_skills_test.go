package probe_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/client/wire"
	"mcptest/internal/run/connect"
	"mcptest/internal/spec/plan"
)

// skillCase names the environment variable that makes this test a server with a case of
// skillCases or oddSkills, on stdio: for other programs that judge servers.
const skillCase = "MCPTEST_SKILL_CASE"

// skilled is a server with skills, written on raw messages.
type skilled struct {
	version   string // 2026-07-28 if empty
	declared  any    // of the extension; nil: not declared
	bare      bool   // resources is not declared
	skills    []object
	files     map[string]any // text or []byte, by URI
	types     map[string]string
	resources []object

	// answer replaces the answer to a request; ok is false for the usual one.
	answer func(s *skilled, m message) (res object, bad *failure, ok bool)
	alter  func(m message, res object) // changes a result

	mu    sync.Mutex
	asked map[string]int // requests by method
	reads []string       // URIs that were read
}

// newSkilled is a correct server with two skills, one of them with files.
func newSkilled() *skilled {
	s := &skilled{declared: object{"directoryRead": true}, files: map[string]any{}, types: map[string]string{}, asked: map[string]int{}}
	s.add("skill://git-workflow", textOf("git-workflow", ""))
	s.add("skill://acme/refunds", textOf("refunds", "license: MIT\n"), "references/A.md", "# A\n", "scripts/deep/run.sh", "#!/bin/sh\n", "empty.txt", "")
	return s
}

// textOf is a SKILL.md.
func textOf(name, more string) string {
	return "---\nname: " + name + "\ndescription: Does things.\n" + more + "---\n# Body of " + name + "\n"
}

// matterOf is the frontmatter that textOf writes.
func matterOf(name string, more ...any) object {
	out := object{"name": name, "description": "Does things."}
	for i := 0; i < len(more); i += 2 {
		out[more[i].(string)] = more[i+1]
	}
	return out
}

// add adds a skill in a directory, with its files by path and contents.
func (s *skilled) add(root, text string, files ...any) object {
	name := path.Base(root)
	matter := matterOf(name)
	if strings.Contains(text, "license: MIT\n") {
		matter["license"] = "MIT"
	}
	list := []object{s.file(root+"/SKILL.md", text)}
	s.types[root+"/SKILL.md"] = "text/markdown"
	for i := 0; i < len(files); i += 2 {
		list = append(list, s.file(root+"/"+files[i].(string), files[i+1]))
	}
	entry := object{"uri": root + "/SKILL.md", "frontmatter": matter, "resources": list}
	s.skills = append(s.skills, entry)
	return entry
}

// file serves a file, and returns its entry in a manifest.
func (s *skilled) file(uri string, contents any) object {
	s.files[uri] = contents
	data, ok := contents.([]byte)
	if !ok {
		data = []byte(contents.(string))
	}
	return object{"uri": uri, "digest": fmt.Sprintf("sha256:%x", sha256.Sum256(data)), "size": len(data)}
}

// manifest is that of a skill.
func (s *skilled) manifest(i int) []object { return s.skills[i]["resources"].([]object) }

// matter is the frontmatter of a skill.
func (s *skilled) matter(i int) object { return s.skills[i]["frontmatter"].(object) }

// rename moves a skill with its only file.
func (s *skilled) rename(i int, root, name string) {
	text := textOf(name, "")
	s.skills[i] = object{"uri": root + "/SKILL.md", "frontmatter": matterOf(name), "resources": []object{s.file(root+"/SKILL.md", text)}}
	s.types[root+"/SKILL.md"] = "text/markdown"
}

// write replaces the SKILL.md of a skill, with its digest and size.
func (s *skilled) write(i int, text string) {
	s.manifest(i)[0] = s.file(s.skills[i]["uri"].(string), text)
}

// dial connects to the server over an in-process stream, as a process would be.
func (s *skilled) dial(context.Context, *plan.Server, connect.Options) (wire.Transport, error) {
	client, server := wire.NewPipe()
	go func() {
		defer server.Close()
		s.serve(server, server)
	}()
	return client, nil
}

// serve answers requests until the input ends.
func (s *skilled) serve(r io.Reader, w io.Writer) {
	in := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		if out := s.reply(line); out != "" {
			_, _ = io.WriteString(w, out+"\n")
		}
	}
}

func (s *skilled) reply(raw []byte) string {
	var m message
	if json.Unmarshal(raw, &m) != nil || m.ID == nil {
		return ""
	}
	_ = json.Unmarshal(m.Params, &m.params)
	m.meta, _ = m.params["_meta"].(object)
	s.mu.Lock()
	s.asked[m.Method]++
	s.mu.Unlock()
	res, bad := s.handle(m)
	if bad != nil {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, m.ID, bad.code, bad.text)
	}
	if s.version == "" {
		s.stamp(m, res)
	}
	if s.alter != nil {
		s.alter(m, res)
	}
	data, _ := json.Marshal(res)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, data)
}

// stamp adds what results have in 2026-07-28.
func (s *skilled) stamp(m message, res object) {
	base := object{"resultType": "complete", "_meta": object{"io.modelcontextprotocol/serverInfo": object{"name": "skilled", "version": "1"}}}
	if m.Method != "resources/directory/read" && m.Method != "ping" {
		base["ttlMs"], base["cacheScope"] = 1000, "public"
	}
	for k, v := range base {
		if _, own := res[k]; !own {
			res[k] = v
		}
	}
}

func (s *skilled) capabilities() object {
	caps := object{"resources": object{}}
	if s.bare {
		caps = object{"tools": object{}}
	}
	if s.declared != nil {
		caps["extensions"] = object{"io.modelcontextprotocol/skills": s.declared}
	}
	return caps
}

// declares reports whether the client of a request declares skills.
func (m message) declares() bool {
	caps, _ := m.meta["io.modelcontextprotocol/clientCapabilities"].(object)
	extensions, _ := caps["extensions"].(object)
	return extensions["io.modelcontextprotocol/skills"] != nil
}

func (s *skilled) handle(m message) (object, *failure) {
	if s.answer != nil {
		if res, bad, ok := s.answer(s, m); ok {
			return res, bad
		}
	}
	uri, _ := m.params["uri"].(string)
	switch m.Method {
	case "initialize":
		if s.version == "" {
			return nil, fail(-32601, "only 2026-07-28 is spoken here")
		}
		return object{"protocolVersion": s.version, "capabilities": s.capabilities(), "serverInfo": object{"name": "skilled", "version": "1"}}, nil
	case "server/discover":
		if s.version != "" {
			return nil, fail(-32601, "method not found")
		}
		return object{"supportedVersions": []string{"2026-07-28"}, "capabilities": s.capabilities()}, nil
	case "ping":
		return object{}, nil
	case "tools/list":
		return object{"tools": []object{}}, nil
	case "resources/list":
		return object{"resources": append([]object{}, s.resources...)}, nil
	case "resources/templates/list":
		return object{"resourceTemplates": []object{}}, nil
	case "resources/read":
		return s.read(uri)
	case "skills/list":
		return object{"skills": clone(s.skills)}, nil
	case "skills/get":
		for _, e := range s.skills {
			if e["uri"] == uri {
				return object{"skill": clone(e)}, nil
			}
		}
		return nil, fail(-32602, "no skill is served at %s", uri)
	case "resources/directory/read":
		return s.directory(uri)
	}
	return nil, fail(-32601, "method not found: %s", m.Method)
}

// clone copies a value, so that an altered result changes no other one.
func clone[T any](v T) (out T) {
	data, _ := json.Marshal(v)
	_ = json.Unmarshal(data, &out)
	return out
}

func (s *skilled) read(uri string) (object, *failure) {
	s.mu.Lock()
	s.reads = append(s.reads, uri)
	s.mu.Unlock()
	contents, ok := s.files[uri]
	if !ok {
		return nil, fail(-32602, "no such resource")
	}
	one := object{"uri": uri}
	if kind := s.types[uri]; kind != "" {
		one["mimeType"] = kind
	}
	if data, isBlob := contents.([]byte); isBlob {
		one["blob"] = base64.StdEncoding.EncodeToString(data)
	} else {
		one["text"] = contents
	}
	return object{"contents": []object{one}}, nil
}

func (s *skilled) directory(uri string) (object, *failure) {
	found := map[string]object{}
	for _, file := range slices.Sorted(maps.Keys(s.files)) {
		inside, ok := strings.CutPrefix(file, uri+"/")
		if !ok {
			continue
		}
		child, _, below := strings.Cut(inside, "/")
		kind := "text/plain"
		if below {
			kind = "inode/directory"
		}
		found[child] = object{"uri": uri + "/" + child, "name": child, "mimeType": kind}
	}
	if len(found) == 0 || !strings.Contains(strings.TrimPrefix(uri, "skill://")+"/", "/") {
		return nil, fail(-32602, "%s is no directory", uri)
	}
	var list []object
	for _, child := range slices.Sorted(maps.Keys(found)) {
		list = append(list, found[child])
	}
	return object{"resources": list}, nil
}

// serveSkillCase is the server of a case, for other programs. It reports whether this
// process was started as one.
func serveSkillCase() bool {
	name := os.Getenv(skillCase)
	if name == "" {
		return false
	}
	for _, c := range slices.Concat(skillCases, oddSkills) {
		if c.name == name {
			s := newSkilled()
			c.plant(s)
			s.serve(os.Stdin, os.Stdout)
			return true
		}
	}
	fmt.Fprintln(os.Stderr, "no such case:", name)
	return true
}
