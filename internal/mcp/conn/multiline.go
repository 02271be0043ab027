package conn

import (
	"bytes"
	"time"

	"mcptest/internal/mcp/protocol"
)

// multilineJSON collects a message that was written over several lines. Servers that
// print indented JSON do that; each line on its own would be noise, together
// they are one answer and one violation.
type multilineJSON struct {
	buf    []byte
	lines  int
	offset int64
	at     time.Time
	depth  int
}

func (p *multilineJSON) active() bool { return p.lines > 0 }

func (p *multilineJSON) reset() { *p = multilineJSON{} }

// opens reports whether line can be the first of several: JSON that is
// complete but for closing brackets.
func (p *multilineJSON) opens(line []byte) bool {
	if len(line) == 0 || line[0] != '{' && line[0] != '[' {
		return false
	}
	depth, ok := brackets(line, 0)
	return ok && depth > 0
}

// continues reports whether line can follow.
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

// brackets follows the nesting of a piece of JSON that starts outside of
// strings at the given depth. It fails inside a string, as no string goes over
// a line end, and where more is closed than was opened.
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
