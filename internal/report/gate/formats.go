package gate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
)

// SARIFSchema is the address of the JSON Schema of SARIF 2.1.0.
const SARIFSchema = "https://json.schemastore.org/sarif-2.1.0.json"

// SARIFText returns a text of SARIF 2.1.0 (OASIS), absent if it is empty. It must be
// escaped.
func SARIFText(text string) jsonv.Value {
	return jsonv.ObjectOf("text", text).If(text != "")
}

// SARIFRule returns the description of a rule.
func SARIFRule(id, text, help, url string) jsonv.Value {
	return jsonv.ObjectOf("id", id, "shortDescription", SARIFText(text), "help", SARIFText(help), "helpUri", jsonv.Filled(url))
}

// NoFile is the artifact of findings about a server that no file describes. Code scanning
// accepts files only, no addresses; it need not exist in the repository.
const NoFile = "mcp-server"

// SARIFFile returns the artifact of a file: relative to the sources unless it is absolute.
func SARIFFile(file string) jsonv.Value {
	name := display.Escape(filepath.ToSlash(cmp.Or(file, NoFile)))
	u := url.URL{Path: name}
	drive := len(name) > 2 && name[1] == ':' && name[2] == '/'
	switch {
	case drive:
		u.Scheme, u.Path = "file", "/"+name
	case strings.HasPrefix(name, "/"):
		u.Scheme = "file"
	}
	return jsonv.ObjectOf("uri", u.String())
}

// SARIFPlace returns a place in a file, or the file if its line is 0.
func SARIFPlace(artifact jsonv.Value, line, column int, snippet string) jsonv.Value {
	region := jsonv.ObjectOf("startLine", line, "startColumn", jsonv.Filled(max(column, 0)), "snippet", SARIFText(snippet))
	return jsonv.ObjectOf("artifactLocation", artifact, "region", region.If(line > 0))
}

// Fingerprint identifies a finding by what does not change with its place in a file.
func Fingerprint(identity ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(identity, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// Escapes that the workflow commands of GitHub decode in their text and properties.
var (
	githubText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// GitHubCommand returns a workflow command that annotates a line of a file. Text of
// others can't end it or begin another, if it is escaped for people.
func GitHubCommand(level, title, file string, line, column int, text string) string {
	var properties []string
	add := func(name, value string) {
		if value != "" && value != "0" {
			properties = append(properties, name+"="+githubProperty.Replace(value))
		}
	}
	add("file", file)
	if file != "" {
		add("line", strconv.Itoa(line))
		add("col", strconv.Itoa(column))
	}
	add("title", title)
	return "::" + level + " " + strings.Join(properties, ",") + "::" + githubText.Replace(text) + "\n"
}
