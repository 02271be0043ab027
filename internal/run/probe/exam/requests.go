package exam

import (
	"context"
	"slices"
	"sync"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/surface"
)

// Look opens the first session and requests the lists.
func (v *Visit) Look(ctx context.Context) error {
	sess, err := v.Session(ctx)
	if err != nil {
		return err
	}
	v.Version, v.info, v.Hello = sess.ProtocolVersion(), sess.ServerInfo(), sess.Handshake()
	v.Caps = v.info.Lookup("capabilities")
	v.examine(v.Hello, sess)
	v.Stated = append(v.Stated, v.info.Lookup("supportedVersions").Texts()...)
	into := map[surface.Kind]*[]jsonv.Value{
		surface.Tool:     &v.Tools,
		surface.Resource: &v.Resources,
		surface.Template: &v.Templates,
		surface.Prompt:   &v.Prompts,
	}
	for _, l := range surface.Lists() {
		if v.Declares(l.Capability) {
			v.Doing(v.Version.Name + " · " + l.Method)
			list := Read(ctx, l, v.Send)
			v.Listed, *into[l.Kind] = append(v.Listed, list), list.Items
		}
	}
	return nil
}

// Do makes one valid request in the open session.
func (v *Visit) Do(ctx context.Context, method string, params jsonv.Value) *mcp.Exchange {
	return v.Send(ctx, mcp.Call{Method: method, Params: Text(params)})
}

// Send makes a valid call in the open session.
func (v *Visit) Send(ctx context.Context, call mcp.Call) *mcp.Exchange {
	x := v.Once(ctx, call)
	v.errorForm(x)
	return x
}

// Together makes two calls in the open session at the same time.
func (v *Visit) Together(ctx context.Context, calls [2]mcp.Call) (got [2]*mcp.Exchange) {
	sess, err := v.Session(ctx)
	if err != nil {
		return [2]*mcp.Exchange{{Cause: err}, {Cause: err}}
	}
	var both sync.WaitGroup
	for i, call := range calls {
		both.Go(func() { got[i] = v.callWithin(ctx, sess, v.Reply, call) })
	}
	both.Wait()
	for _, x := range got {
		v.examine(x, sess)
	}
	return got
}

// RanOut reports whether a request got no response in its own time.
func (v *Visit) RanOut(ctx context.Context, x *mcp.Exchange) bool { return hasRunOut(ctx, x) }

// Call calls a tool, or says why it must not.
func (v *Visit) Call(ctx context.Context, tool, args jsonv.Value) (x *mcp.Exchange, why string) {
	if why := v.Policy.Call(tool, args); why != "" {
		return nil, why
	}
	return v.Send(ctx, mcp.Call{Method: "tools/call", Params: Text(Params(tool, args)), ProgressToken: true}), ""
}

// Refuses checks that a request gets an error with one of the codes.
func (v *Visit) Refuses(ctx context.Context, rule, subject, method string, params jsonv.Value, codes ...int64) {
	v.Check(ctx, rule, subject, func(ctx context.Context) Outcome { return v.ExpectCode(ctx, method, params, codes...) })
}

// ExpectCode sends a request that must get an error with one of the codes.
func (v *Visit) ExpectCode(ctx context.Context, method string, params jsonv.Value, codes ...int64) Outcome {
	x := v.Do(ctx, method, params)
	e := RPCError(x)
	switch {
	case e != nil && slices.Contains(codes, e.Code), Another(x):
		return Held()
	case e == nil && x.Result == nil:
		return Unverified("%s got %s", method, Answer(x))
	}
	return Broken(x, "%s with %s got %s, expected the error %d", method, params.Short(120), Answer(x), codes[0])
}

// Notify sends a notification in the open session, and returns a violation of a kind that
// comes before the response to the next request. x is nil if the notification was not sent.
func (v *Visit) Notify(
	ctx context.Context, method string, params []byte, kinds ...string,
) (x *mcp.Exchange, found *protocol.Violation, err error) {
	sess, err := v.Session(ctx)
	if err != nil {
		return nil, nil, err
	}
	v.examineLoose(sess.TakeViolations())
	if err := sess.Notify(ctx, method, params); err != nil {
		return nil, nil, err
	}
	x = v.Once(ctx, mcp.Call{Method: v.Idle()})
	between := sess.TakeViolations()
	v.examineLoose(between)
	all := append(between, x.Violations...)
	if i := slices.IndexFunc(all, func(f protocol.Violation) bool { return slices.Contains(kinds, f.Kind) }); i >= 0 {
		found = &all[i]
	}
	return x, found, nil
}

// unheard is how often a subscription is begun that is not acknowledged: after that, nothing more is
// waited for.
const unheard = 2

// Listen opens a subscription, and returns once it is acknowledged or refused. A server that
// has not acknowledged it twice in half of the time for a response is not asked again.
func (v *Visit) Listen(ctx context.Context, kinds jsonv.Value) *mcp.Exchange {
	if len(v.unheard) >= unheard {
		return v.unheard[0]
	}
	sess, err := v.Session(ctx)
	if err != nil {
		return &mcp.Exchange{Method: protocol.MethodListen, Cause: err}
	}
	call := mcp.Call{Method: protocol.MethodListen, Params: jsonv.ObjectOf("notifications", kinds).Append(nil)}
	x := v.Within(v.Reply/2, sess)(ctx, call)
	if hasRunOut(ctx, x) && len(x.During) == 0 {
		v.unheard = append(v.unheard, x)
	}
	return x
}
