package line

import (
	"context"
	"errors"
	"time"

	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/client/mcp"
	"mcptest/internal/offer/surface"
	"mcptest/internal/report/result"
	"mcptest/internal/run/agent"
	"mcptest/internal/run/pool"
	spec "mcptest/internal/spec/agent"
	"mcptest/internal/spec/plan"
)

// conversation lets a model use the tools; the observer of *spec.Conversation.
type conversation struct {
	a      *attempt
	server *pool.Server
	op     *plan.Op
	does   *spec.Conversation
}

func (t conversation) observe(ctx context.Context) (o target.Observation, err error) {
	a := t.a
	o.Server = a.sessions.of[t.server].ServerInfo()
	trial := agent.Trial{Conversation: t.does, Mentions: a.c.Tree.Mentions(), Call: t.call, Warn: a.out.warn}
	news := t.watch()
	trial.MayChange = len(news.marks) > 0
	trial.Changed = news.readChanged
	if trial.Offers, err = t.offers(ctx); err != nil {
		return o, err
	}
	models := a.file.Models
	trial.Speaker, trial.Price, err = models.Speaker(a.file.Plan.Suite, t.does, a.c.Name, a.number)
	if err != nil {
		return o, a.out.setUnasked(err, a.file.Capped)
	}
	before := a.out.c.DurationMS
	said, seen, err := trial.Run(ctx)
	a.out.c.Conversation, a.out.c.DurationMS = &said, before
	o.Own, o.DurationMS, o.Upstream = seen, said.DurationMS, a.watch.Requests()
	if trial.Uncounted != "" && (t.does.Budget != nil || a.c.Tree.ExaminesCosts()) {
		a.out.fail(result.Inconclusive, trial.Uncounted+", so nothing is known of its budget and cost")
	}
	if f, ok := errors.AsType[*agent.FailedError](err); ok {
		a.out.fail(result.Fail, f.Msg)
	} else if err != nil {
		a.file.Models.Broke(a.file.Plan.Suite, t.does.Model, a.c.Name)
	}
	return o, a.out.setUnasked(err, a.file.Capped)
}

// listServers returns the servers whose tools the model is offered.
func (t conversation) listServers() []*pool.Server {
	defs := append([]*plan.Server{t.server.Def}, t.op.With...)
	return lists.Map(defs, func(def *plan.Server) *pool.Server {
		return t.a.file.Pool.ForCase(t.a.c, def, t.a.file.Plan)
	})
}

// offers returns the tools of the servers.
func (t conversation) offers(ctx context.Context) (out []agent.Offer, err error) {
	for _, s := range t.listServers() {
		offer, err := s.Offer(ctx, t.a.sessions.of[s])
		if err == nil {
			err = offer.Failed[surface.Tool]
		}
		if err != nil {
			return nil, err
		}
		out = append(out, agent.Offer{
			Server:       s.Def.Name,
			Tools:        offer.Lists[surface.Tool],
			Descriptions: s.Def.Describe,
		})
	}
	return out, nil
}

// news watches the servers that declare that their list of tools may change.
type news struct {
	of    conversation
	marks map[*pool.Server]mcp.Mark
}

func (t conversation) watch() news {
	n := news{t, map[*pool.Server]mcp.Mark{}}
	for _, s := range t.listServers() {
		if sess := t.a.sessions.of[s]; sess.ServerInfo().Lookup("capabilities", "tools", "listChanged").Bool() {
			n.marks[s] = sess.Mark()
		}
	}
	return n
}

// readChanged returns the tools again if a server has announced that its list changed.
func (n news) readChanged(ctx context.Context) (offers []agent.Offer, changed bool, err error) {
	for s, since := range n.marks {
		sess := n.of.a.sessions.of[s]
		s.AwaitIdle(sess) // the announcement may follow the response
		mark := sess.Mark()
		if sess.ListChanged(since) {
			n.marks[s], changed = mark, true
		}
	}
	if !changed {
		return nil, false, nil
	}
	offers, err = n.of.offers(ctx)
	return offers, true, err
}

// call calls a tool as any test does: the exchange is recorded, the response checked.
func (t conversation) call(
	ctx context.Context, tool *agent.Tool, args jsonv.Value,
) (res, rpcError jsonv.Value, ok bool) {
	a := t.a
	op := &plan.Op{Server: a.file.Plan.Server(tool.Server), Method: "tools/call", Subject: tool.Own()}
	op.Params = jsonv.ObjectOf("name", op.Subject, "arguments", args).Append(nil)
	x, ok := a.call(ctx, op, -1)
	if !ok {
		return res, rpcError, false
	}
	a.measure(op, x, nil)
	return a.seen.obs.Result, a.seen.obs.Error, true
}

// calibration holds a judge against labels; the observer of *spec.Calibration.
type calibration struct {
	a    *attempt
	does *spec.Calibration
}

func (t calibration) observe(ctx context.Context) (o target.Observation, err error) {
	began := time.Now()
	models := t.a.file.Models
	status, share, err := models.Calibrate(ctx, t.a.file.Plan.Suite, t.does, t.a.c.Name, t.a.number)
	o.DurationMS = ms(time.Since(began))
	if err == nil {
		share.Line, share.Column = t.a.c.Pos.Line, t.a.c.Pos.Col
		t.a.out.c.Assertions = append(t.a.out.c.Assertions, share)
	}
	if status != "" && status != result.Pass {
		t.a.out.fail(status, share.Message)
	}
	return o, t.a.out.setUnasked(err, t.a.file.Capped)
}
