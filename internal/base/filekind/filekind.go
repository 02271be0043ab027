package filekind

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"

	"mcptest/internal/base/lazy"
)

// Kind says what a file is, with its article.
type Kind string

// The kinds.
const (
	Unknown      Kind = ""
	Record       Kind = "the record of a run"
	RecordLog    Kind = "the record of a run as NDJSON"
	Cassette     Kind = "a cassette"
	Lock         Kind = "a lock file"
	Tools        Kind = "a list of tools"
	Known        Kind = "a list of known failures"
	Accepted     Kind = "a list of accepted findings"
	Suite        Kind = "a suite"
	Manifest     Kind = "the manifest of a mock server"
	Rules        Kind = "a file of rules for mcptest check"
	Bundle       Kind = "an MCP bundle"
	ClientConfig Kind = "the configuration of a client"
	Load         Kind = "a report of mcptest load"
	Recording    Kind = "a recording of an API"
	XML          Kind = "an XML file, such as a JUnit report"
	HTML         Kind = "an HTML page"
)

// Reader returns the command that reads a file of a kind; "" if none does.
func (k Kind) Reader(path string) string {
	switch k {
	case Record, RecordLog:
		return "mcptest report " + path
	case Cassette:
		return "mcptest cassette show " + path
	case Lock, Tools:
		return "mcptest check " + path
	case Known:
		return "mcptest run --baseline " + path
	case Accepted:
		return "mcptest check, diff or probe --baseline " + path
	case Suite:
		return "mcptest run " + path
	case Manifest:
		return "mcptest mock --tools-from " + path
	case Rules:
		return "mcptest check --rules " + path
	case Bundle:
		return "mcptest check " + path
	case ClientConfig:
		return "mcptest init --from " + path
	case Load:
		return "mcptest load merge " + path
	}
	return ""
}

// headSize is how much of a file is read.
const headSize = 64 << 10

// OfFile returns the kind of a file; Unknown if it is no regular file, or cannot be read.
func OfFile(path string) Kind {
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return Unknown
	}
	f, err := os.Open(path)
	if err != nil {
		return Unknown
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, headSize))
	if err != nil {
		return Unknown
	}
	return Of(head)
}

// Of returns the kind of a file with this beginning.
func Of(head []byte) Kind {
	text := bytes.TrimLeft(head, " \t\r\n\ufeff")
	start := bytes.ToLower(text[:min(len(text), 20)])
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return Bundle
	case bytes.HasPrefix(start, []byte("<!doctype html")), bytes.HasPrefix(start, []byte("<html")):
		return HTML
	case bytes.HasPrefix(start, []byte("<?xml")), bytes.HasPrefix(start, []byte("<testsuite")):
		return XML
	case bytes.HasPrefix(text, []byte("{")):
		return classify(listKeysOfJSON(text), text)
	}
	return classify(listKeysOfYAML(text), text)
}

// own are the keys that only files of one kind have.
func own() map[string]Kind {
	return map[string]Kind{
		"mcptest_cassette":  Cassette,
		"mcptest_lock":      Lock,
		"mcptest_recording": Recording,
		"known_failures":    Known,
		"accepted":          Accepted,
		"mock_server":       Manifest,
		"mcpServers":        ClientConfig,
	}
}

// schema matches the member that names the schema of a report of mcptest.
var schema = lazy.Regexp(`"schema"\s*:\s*"mcptest\.(run|load)/`)

// classify returns the kind of a file with these keys at the top.
func classify(keys []string, text []byte) Kind {
	for _, key := range keys {
		if kind := own()[key]; kind != Unknown {
			return kind
		}
	}
	has := func(key string) bool { return slices.Contains(keys, key) }
	isDefinition := bytes.Contains(text, []byte("inputSchema"))
	switch {
	case has("event") && schema().Match(text[:min(len(text), 1024)]):
		return RecordLog
	case has("schema"):
		return classifyReport(text)
	case has("servers") && hasTests(keys) && !isDefinition:
		return Suite
	case has("servers"):
		return Unknown // a suite without tests, or the configuration of a client
	case has("profiles") && has("rules"):
		return Rules
	case has("tools") && isDefinition && !hasTests(slices.DeleteFunc(slices.Clone(keys), isTools)):
		return Tools
	}
	return Unknown
}

// classifyReport tells the reports of mcptest by their schema.
func classifyReport(text []byte) Kind {
	found := schema().FindSubmatch(text[:min(len(text), 1024)])
	switch {
	case found == nil:
		return Unknown
	case string(found[1]) == "load":
		return Load
	}
	return Record
}

func isTools(key string) bool { return key == "tools" }

// hasTests reports whether a key is one of the lists of tests, or sets something for them.
func hasTests(keys []string) bool {
	lists := []string{
		"tools", "resources", "prompts", "protocol", "surface", "check", "probe", "http", "start", "agents",
		"imports", "default_server", "defaultTest", "run_options",
	}
	return slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(lists, key) })
}

// keyOfYAML matches a key at the beginning of a line.
var keyOfYAML = lazy.Regexp(`(?m)^["']?([A-Za-z_][\w-]*)["']?[ \t]*:(?:[ \t\r]|$)`)

// listKeysOfYAML returns the keys at the top of a block of YAML.
func listKeysOfYAML(text []byte) (keys []string) {
	for _, m := range keyOfYAML().FindAllSubmatch(text, 100) {
		keys = append(keys, string(m[1]))
	}
	return keys
}

// listKeysOfJSON returns the keys of the object that a text begins with, as far as it goes.
func listKeysOfJSON(text []byte) (keys []string) {
	dec := json.NewDecoder(bytes.NewReader(text))
	depth, isKey := 0, false
	for {
		token, err := dec.Token()
		if err != nil {
			return keys // the end, or the cut of a long file
		}
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{', '[':
				depth++
				isKey = depth == 1
			default:
				depth--
				isKey = depth == 1
			}
			if depth == 0 {
				return keys
			}
		default:
			if depth != 1 {
				continue
			}
			if name, isText := t.(string); isText && isKey {
				keys = append(keys, name)
			}
			isKey = !isKey
		}
	}
}
