package conn

import (
	"bytes"

	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// multilineJSON collects a message that was written in several lines, by a server
// that prints indented JSON. Together the lines are one response and one violation,
// instead of noise.
type multilineJSON struct {
	all   wire.Frame // Raw: the lines
	lines int
	depth int
}

func (p *multilineJSON) active() bool { return p.lines > 0 }

// opensMultiline reports whether raw, which begins with a bracket, can be the first of
// several: JSON that only lacks closing brackets.
func opensMultiline(raw []byte) bool {
	depth, ok := countBrackets(raw, 0)
	return ok && depth > 0
}

// continues reports whether raw can be the next one.
func (p *multilineJSON) continues(raw []byte, limit int) bool {
	if len(p.all.Raw)+len(raw) > limit {
		return false
	}
	if len(raw) == 0 {
		return true
	}
	if bytes.IndexByte([]byte(`"{}[]:,-0123456789tfn`), raw[0]) < 0 {
		return false
	}
	_, ok := countBrackets(raw, p.depth)
	return ok
}

// add appends a line. It reports whether the message is complete.
func (p *multilineJSON) add(f wire.Frame) bool {
	if p.lines == 0 {
		p.all = wire.Frame{Dir: f.Dir, Offset: f.Offset}
	}
	p.depth, _ = countBrackets(f.Raw, p.depth)
	p.all.Raw = append(append(p.all.Raw, f.Raw...), '\n')
	p.all.At, p.all.Stream = f.At, f.Stream
	p.lines++
	return p.depth == 0
}

// take returns the lines as one frame, with their number, and starts again.
func (p *multilineJSON) take() (all wire.Frame, lines int) {
	all, lines = p.all, p.lines
	all.Raw = protocol.TrimSpace(all.Raw)
	*p = multilineJSON{}
	return all, lines
}

// countBrackets returns the nesting depth after a piece of JSON that starts outside of
// strings at the given depth. It fails if the piece ends inside a string, because
// strings cannot contain line breaks, or closes more brackets than are open.
func countBrackets(raw []byte, depth int) (int, bool) {
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; ; i++ {
				if i >= len(raw) {
					return depth, false
				}
				if raw[i] == '\\' {
					i++
				} else if raw[i] == '"' {
					break
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth < 0 || depth == 0 && len(protocol.TrimSpace(raw[i+1:])) > 0 {
				return depth, false
			}
		}
	}
	return depth, true
}
