package recording

import (
	"crypto/rand"
	"maps"
	"path/filepath"
	"strings"
)

// Random provides the values of ${random.KEY}. The zero value is ready to use.
type Random struct {
	// Rewritten reports whether the recording of an upstream is rewritten: its values
	// are then not used. Nil means that none is.
	Rewritten func(upstream string) bool
	made      map[string]string
}

// Recorded returns the values in recordings. files maps the names of upstreams to the
// paths of their recordings, relative to dir. Mistakes in them are reported when they
// are used.
func (r *Random) Recorded(dir string, files map[string]string) map[string]string {
	out := map[string]string{}
	for upstream, path := range files {
		if r.Rewritten != nil && r.Rewritten(upstream) {
			continue
		}
		if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if file, _ := Read(path, path, upstream); file != nil {
			maps.Copy(out, file.Random)
		}
	}
	return out
}

// randomLength is the number of characters of a random value.
const randomLength = 10

// Make returns the value of a key that is in no recording: lowercase letters and
// digits, starting with a letter, so that it can be a part of most names and is parsed
// as a text. It is the same for all suites.
func (r *Random) Make(key string) string {
	if r.made == nil {
		r.made = map[string]string{}
	}
	if r.made[key] == "" {
		const letters = "abcdefghijklmnopqrstuvwxyz"
		text := strings.ToLower(rand.Text())
		r.made[key] = string(letters[int(text[0]+text[1])%len(letters)]) + text[2:randomLength+1]
	}
	return r.made[key]
}
