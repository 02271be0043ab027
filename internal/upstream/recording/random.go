package recording

import (
	"crypto/rand"
	"regexp"
	"strings"
	"sync"
)

// RandomPrefix is what the names of random values begin with: ${random.KEY}.
const RandomPrefix = "random."

var randomName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{random\.([A-Za-z0-9_-]+)(?::-|\})`) })

// RandomKeys returns the keys of the random values that a text uses.
func RandomKeys(text []byte) (keys []string) {
	for _, m := range randomName().FindAllSubmatch(text, -1) {
		keys = append(keys, string(m[1]))
	}
	return keys
}

// randomLength is how many characters a random value has.
const randomLength = 10

// NewRandom returns a new random value: lowercase letters and digits, first a
// letter, so that it can be a part of most names and is read as a text.
func NewRandom() string {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	text := strings.ToLower(rand.Text())
	first := letters[int(text[0]+text[1])%len(letters)]
	return string(first) + text[2:randomLength+1]
}
