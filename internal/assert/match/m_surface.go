package match

import (
	"context"

	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/offer/assert"
)

var rowLock = Row{
	Name: "lock", Doc: "what the server offers has not changed since its lock file was written; for the target surface",
	Example: `lock: {file: surface/, fail_on: breaking}`, Passes: `{"tools": []}`, Fails: `{"tools": [{"name": "bad"}]}`,
	schema: `{"type":["string","object"],"minLength":1,"required":["file"],"properties":{
		"file":{"type":"string","minLength":1},"fail_on":{"enum":["breaking","trust","review","any"]}},"additionalProperties":false}`, compile: compileSurface("lock"),
}

var rowTokens = Row{
	Name: "tokens",
	Doc: "the definitions of the tools take no more tokens than this (an estimate: a quarter of their bytes): " +
		"total of all together, tool of each one, growth: 5% of all together since lock: FILE was written; " +
		"for the target surface",
	Example: `tokens: {total: 15000, tool: 20}`,
	Passes:  `{"tools": [{"name": "add", "description": "Adds two numbers."}]}`,
	Fails: `{"tools": [{"name": "add", "description": "Adds two numbers. If one is missing, it is 0. ` +
		`Use it for sums of money, too."}]}`,
	schema: `{"type":"object","additionalProperties":false,"minProperties":1,"properties":{"total":{"type":["integer","null"],"minimum":1},
		"tool":{"type":["integer","null"],"minimum":1},"growth":{"type":"string"},"lock":{"type":"string"}}}`, compile: compileSurface("tokens"),
}

var rowSameAs = Row{
	Name: "same-as", Aliases: []string{"same_as"},
	Doc: "the server offers the same over these transports and protocol versions, or the same as another server " +
		"of the suite (server: gateway); for the target surface",
	Example: `same-as: {protocol: ["2025-06-18", "2026-07-28"]}`, Passes: `{"tools": []}`, Fails: `{"tools": [{"name": "bad"}]}`,
	schema: `{"type":"object","additionalProperties":false,"minProperties":1,"properties":{
		"server":{"type":"string","minLength":1},
		"transport":{"type":"array","minItems":1,"items":{"enum":["stdio","http","streamable-http","sse"]}},
		"protocol":{"type":"array","minItems":1,"items":{"enum":["2024-11-05","2025-03-26","2025-06-18","2025-11-25","2026-07-28"]}}}}`,
	compile: compileSurface("same-as"),
}

func compileSurface(name string) func(*Compiler, *source.Node, string) Matcher {
	return func(c *Compiler, n *source.Node, path string) Matcher {
		if n.Origin == source.FromServer {
			c.Errorf(n, path, "", "the server under test must not choose the lock file")
			return nil
		}
		if k := assert.Decode(name, n, path, c.Mistakes); k != nil {
			for _, server := range c.Servers {
				if file := k.LockFile(c.Dir, server); file != "" {
					c.noteOpened(file)
				}
			}
			return offered{k}
		}
		return nil
	}
}

// offered evaluates what a server offers.
type offered struct{ *assert.Check }

func (m offered) Match(ctx context.Context, s target.Subject, env *Env) Outcome {
	if s.Value.Kind() != jsonv.KindObject {
		return unfit("the target surface", s.Value)
	}
	if env.Surface == nil {
		return Outcome{Unfit: true, Msg: "lock files are not read here"}
	}
	v := env.Surface(ctx, m.Check, s.Value)
	return Outcome{Pass: v.Problem == "", Msg: v.Problem, Diff: v.Lines, Unseen: v.Notes, Unfit: v.Undecided}
}
