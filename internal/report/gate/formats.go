package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

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

// FormatGitHubCommand returns a workflow command that annotates a line of a file. Text of
// others can't end it or begin another, if it is escaped for people.
func FormatGitHubCommand(level, title, file string, line, column int, text string) string {
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
