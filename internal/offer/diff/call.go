package diff

import (
	"context"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/offer/contain"
	"mcptest/internal/offer/surface"
)

// use returns a command that was valid for the old definition.
func (c *comparer) use(it surface.Item) string {
	switch it.Kind {
	case surface.Tool:
		if args, ok := makeArguments(c.ctx, it.Def.Lookup("inputSchema")); ok {
			return c.call(it.Name, args)
		}
		return "any call of " + shellwords.QuoteForShell(it.Name)
	case surface.Resource:
		return "mcptest resources " + shellwords.QuoteForShell(it.Name) + c.o.Target
	case surface.Template:
		return "mcptest resources " + shellwords.QuoteForShell(fillTemplate(it.Name)) + c.o.Target
	case surface.Skill:
		return "skills/get " + display.JSON(jsonv.ObjectOf("uri", it.Name).String())
	}
	line := "mcptest prompts " + shellwords.QuoteForShell(it.Name)
	for _, e := range it.Def.Lookup("arguments").Elems() {
		if e.Lookup("required").Bool() {
			line += " --arg " + shellwords.QuoteForShell(e.Lookup("name").Text()+"=x")
		}
	}
	return line + c.o.Target
}

// fillTemplate puts a value in each place of a URI template.
func fillTemplate(template string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(template, "{")
		_, after, closed := strings.Cut(rest, "}")
		b.WriteString(before)
		if !ok || !closed {
			return b.String()
		}
		b.WriteByte('x')
		template = after
	}
}

// call returns the command line of a call.
func (c *comparer) call(name string, args jsonv.Value) string {
	line := "mcptest call " + shellwords.QuoteForShell(name)
	if args.Len() > 0 {
		line += " --args-json " + shellwords.QuoteForShell(display.JSON(args.String()))
	}
	return line + c.o.Target
}

// acceptObjects adds MCP's requirement that arguments and structured content are objects.
// A tool without outputSchema may return any object.
func acceptObjects(v jsonv.Value, output bool) jsonv.Value {
	isOpen := v.Kind() == jsonv.KindObject && v.Lookup("type").IsAbsent() && v.Lookup("$ref").IsAbsent()
	if v.IsAbsent() || !output && isOpen {
		return v.With("type", jsonv.String("object"))
	}
	return v
}

// makeArguments are arguments that a schema accepts, if some can be found.
func makeArguments(ctx context.Context, schema jsonv.Value) (args jsonv.Value, ok bool) {
	any, err := contain.Compile(acceptObjects(schema, false))
	none, err2 := contain.Compile(jsonv.Bool(false))
	if err != nil || err2 != nil {
		return jsonv.Value{}, false
	}
	verdict, args := contain.Check(ctx, any, none, contain.Options{Declared: true})
	return args, verdict == contain.Escapes
}
