package schemas

import (
	"strconv"
	"sync"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// Cache caches compiled JSON Schemas, so that a schema used by many tests is
// compiled and stored once. It belongs to one goroutine during compilation; compiled
// schemas are safe for concurrent use.
type Cache struct {
	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema
	lines   map[placedSchema]map[string]int
}

// placedSchema is a schema at a position in a suite.
type placedSchema struct {
	pos  source.Pos
	text string
}

// maxCached limits the number of cached entries of each kind.
const maxCached = 10_000

// New returns an empty cache.
func New() *Cache {
	return &Cache{schemas: map[string]*jsonschema.Schema{}, lines: map[placedSchema]map[string]int{}}
}

// Compiled returns the compiled schema of a text, and compiles it if it is not
// cached. A nil cache stores nothing.
func (c *Cache) Compiled(key string, compile func() (*jsonschema.Schema, error)) (*jsonschema.Schema, error) {
	if c == nil {
		return compile()
	}
	c.mu.Lock()
	s, ok := c.schemas[key]
	c.mu.Unlock()
	if ok {
		return s, nil
	}
	s, err := compile()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && len(c.schemas) < maxCached {
		c.schemas[key] = s
	}
	return s, err
}

// Lines returns the suite's line of each keyword of a schema.
func (c *Cache) Lines(n *source.Node, text string) map[string]int {
	lines := map[string]int{}
	if c == nil {
		indexLines(lines, n, "")
		return lines
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at := placedSchema{n.Pos, text}
	if known, ok := c.lines[at]; ok {
		return known
	}
	indexLines(lines, n, "")
	if len(c.lines) < maxCached {
		c.lines[at] = lines
	}
	return lines
}

// maxSchemaLines limits the line index of a large schema.
const maxSchemaLines = 2000

// indexLines adds the line of each keyword below pointer.
func indexLines(lines map[string]int, n *source.Node, pointer string) {
	for _, f := range n.Fields {
		if len(lines) >= maxSchemaLines {
			return
		}
		at := jsonv.AppendPointer(pointer, f.Key.Text)
		lines[at] = f.Key.Pos.Line
		indexLines(lines, f.Value, at)
	}
	for i, item := range n.Items {
		indexLines(lines, item, jsonv.AppendPointer(pointer, strconv.Itoa(i)))
	}
}
