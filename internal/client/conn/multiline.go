package conn

import (
	"bytes"
	"time"

	"mcptest/internal/client/protocol"
)

// multilineJSON collects a message that was written in several lines, by a server
// that prints indented JSON. Together the lines are one response and one violation,
// instead of noise.
type multilineJSON struct {
	buf    []byte
	lines  int
	offset int64
	at     time.Time
	depth  int
}

func (p *multilineJSON) active() bool { return p.lines > 0 }

func (p *multilineJSON) reset() { *p = multilineJSON{} }

// opens reports whether line can be the first of several: JSON that only lacks
// closing brackets.
func (p *multilineJSON) opens(line []byte) bool {
	if len(line) == 0 || line[0] != '{' && line[0] != '[' {
		return false
	}
	depth, ok := brackets(line, 0)
	return ok && depth > 0
}

// continues reports whether line can be the next one.
func (p *multilineJSON) continues(line []byte, limit int) bool {
	if len(p.buf)+len(line) > limit {
		return false
	}
	if len(line) == 0 {
		return true
	}
	if bytes.IndexByte([]byte(`"{}[]:,-0123456789tfn`), line[0]) < 0 {
		return false
	}
	_, ok := brackets(line, p.depth)
	return ok
}

// add appends line. It reports whether the message is complete.
func (p *multilineJSON) add(line []byte, offset int64, at time.Time) bool {
	if p.lines == 0 {
		p.offset = offset
	}
	p.depth, _ = brackets(line, p.depth)
	p.buf = append(append(p.buf, line...), '\n')
	p.lines++
	p.at = at
	return p.depth == 0
}

// brackets returns the nesting depth after a piece of JSON that starts outside of
// strings at the given depth. It fails if the piece ends inside a string, because
// strings cannot contain line breaks, or closes more brackets than are open.
func brackets(b []byte, depth int) (int, bool) {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; ; i++ {
				if i >= len(b) {
					return depth, false
				}
				if b[i] == '\\' {
					i++
				} else if b[i] == '"' {
					break
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 || depth == 0 && len(protocol.TrimSpace(b[i+1:])) > 0 {
				return depth, false
			}
		}
	}
	return depth, true
}
