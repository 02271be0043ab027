package gen

// Topic is something that a user may write or meet, and ask about.
type Topic struct {
	Kind    string // key, matcher, target root, violation, exit code, reporter
	Name    string
	Aliases []string
	Title   string // the line it is shown under
	Facts   []string
	Doc     string
	Example string // YAML, or a command line
	Passes  string // for matchers: a value, as JSON
	Fails   string
	Message string // what is said about the value that fails

	places    []string // for keys: where they are written
	arguments []string // for matchers: the keys of the argument
}

// mockKey is the kind of the keys of the mock server's file.
const mockKey = "mock key"

// isKey reports whether a topic is a key of a file.
func (t Topic) isKey() bool { return t.Kind == "key" || t.Kind == mockKey }
