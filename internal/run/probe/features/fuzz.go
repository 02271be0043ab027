package features

import (
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/run/probe/argument"
	"mcptest/internal/run/probe/exam"
	"mcptest/internal/run/probe/verdict"
)

const (
	fuzzed  = 24 // generated arguments for each tool
	shrinks = 40 // calls that look for smaller arguments
)

// Fuzz calls tools with values made from their input schemas. Arguments that end the
// server are reduced to the smallest ones that do.
func Fuzz(ctx context.Context, v *exam.Visit) {
	const rule = "fuzz-crash"
	if !v.Local {
		v.Enter(remote(), rule)
		return
	}
	eachCallable(ctx, v, []string{rule}, func(tool jsonv.Value) {
		schema := tool.Lookup("inputSchema")
		if schema.Lookup("properties").Len() == 0 || !v.Applies(rule) {
			return
		}
		a := newAttacker(ctx, v, tool)
		try := func(ctx context.Context, args jsonv.Value) exam.Outcome {
			x, o := a.attack(ctx, argument.Unusual{What: "generated arguments", Args: args})
			if o.Verdict == verdict.Fail && errors.Is(x.Cause, context.DeadlineExceeded) {
				return exam.Unverified("generated arguments got no response in %s, which may be right for them", v.Reply)
			}
			return o
		}
		var smallest jsonv.Value
		v.Check(ctx, rule, exam.Subject(tool), func(ctx context.Context) exam.Outcome {
			if !smallest.IsAbsent() {
				return try(ctx, smallest)
			}
			// The values of a tool depend on the seed and its name only, not on what
			// else is examined.
			h := fnv.New64a()
			h.Write([]byte(tool.Lookup("name").Text()))
			random := rand.New(rand.NewPCG(v.Seed, h.Sum64()))
			o, ends := exam.Held(), v.Restarts
			for i := 0; i < fuzzed && o.Verdict != verdict.Fail && ctx.Err() == nil; i++ {
				smallest = jsonschema.Random(schema, random)
				if tried := try(ctx, smallest); tried.Verdict != verdict.Pass || i == 0 {
					o = tried
				}
			}
			if o.Verdict != verdict.Fail || o.Once {
				return o
			}
			o = shrink(ctx, &smallest, o, try)
			v.Restarts = ends + 1
			return o
		})
	})
}

// shrink reduces arguments as long as the smaller ones fail too, and sets the smallest.
func shrink(ctx context.Context, args *jsonv.Value, o exam.Outcome, try func(context.Context, jsonv.Value) exam.Outcome) exam.Outcome {
	tries, until := 0, time.Now().Add(10*time.Second)
again:
	for _, smaller := range argument.Reductions(*args) {
		tries++
		if tries > shrinks || time.Now().After(until) || ctx.Err() != nil {
			break
		}
		if got := try(ctx, smaller); got.Verdict == verdict.Fail {
			*args, o = smaller, got
			goto again
		}
	}
	o.Why += " (smallest arguments found: " + args.Short(200) + ")"
	return o
}
