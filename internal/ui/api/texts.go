package api

import (
	"strings"
	"sync"
	"unicode/utf8"

	"mcptest/internal/base/jsonv"
)

// pieceSize bounds one piece of a long text.
const pieceSize = 256 << 10

// texts keeps the latest long texts, so that reading the next piece does not mask the whole
// again.
type texts struct {
	mu   sync.Mutex
	kept []keptText // the latest last
}

type keptText struct{ key, text string }

// keptTexts is how many texts are kept.
const keptTexts = 4

// get returns a text by its key, and makes it if it is not kept.
func (t *texts) get(key string, build func() string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range t.kept {
		if k.key == key {
			return k.text
		}
	}
	text := strings.ToValidUTF8(build(), "\uFFFD")
	t.kept = append(t.kept, keptText{key, text})
	if len(t.kept) > keptTexts {
		t.kept = t.kept[1:]
	}
	return text
}

// cutPiece returns a part of a text that begins at a byte, and the length of the whole.
func cutPiece(text string, from int) jsonv.Value {
	from = min(max(from, 0), len(text))
	for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
		from--
	}
	to := min(from+pieceSize, len(text))
	for to > from && to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	return jsonv.ObjectOf("text", text[from:to], "from", from, "next", to, "size", len(text))
}

// textOrAbsent returns a text, absent if it is empty: the page does without the member.
func textOrAbsent(s string) jsonv.Value {
	if s == "" {
		return jsonv.Value{}
	}
	return jsonv.String(s)
}
