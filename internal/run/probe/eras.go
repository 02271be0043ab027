package probe

import (
	"context"
	"errors"
	"time"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/probe/basics"
	"mcptest/internal/run/probe/exam"
)

// The times of a server for its first response in the stateless era, and to a further
// request if there was none, before it is known whether it answers anything.
const (
	firstQuestion  = 2 * time.Second
	secondQuestion = 1500 * time.Millisecond
)

// visit is the result of one era.
type visit struct {
	*exam.Visit
	err error // the era is not spoken
}

// visitAll visits a server in each era that it may speak, and returns the visits, the
// newest era first, and the error of the last one that failed.
//
// The first question of the stateless era gets a short time, because many servers never
// answer it, and one that answers nothing must not cost its connect_timeout twice. If the
// server answers that of the session era, it only started slowly: then the first one is
// asked again, with all the time that it may have.
func visitAll(ctx context.Context, p *exam.Prober) (visits []visit, failed error) {
	if pin := protocol.VersionOf(p.Server.Protocol); pin.Known() {
		v := p.Visit(pin.Era())
		err := run(ctx, v)
		return []visit{{v, err}}, err
	}
	newer := visitFirst(ctx, p)
	older := visit{Visit: p.Visit(protocol.EraSession)}
	older.err = run(ctx, older.Visit)
	if isUnanswered(newer.err) && !isUnanswered(older.err) && ctx.Err() == nil {
		newer = visit{Visit: p.Visit(protocol.EraStateless)}
		newer.err = run(ctx, newer.Visit)
	}
	failed = older.err // that of the session era is the better one
	if failed == nil {
		failed = newer.err
	}
	return []visit{newer, older}, failed
}

// visitFirst visits the stateless era in half of the time.
func visitFirst(ctx context.Context, p *exam.Prober) visit {
	ctx, cancel := shareOf(ctx, 2)
	defer cancel()
	v := p.Visit(protocol.EraStateless)
	if p.Server.Auth != nil { // a login takes as long as it takes
		return visit{v, run(ctx, v)}
	}
	short, stop := mcp.WithLimit(ctx, "connect_timeout", firstQuestion)
	_, err := v.Session(short) // stays open for the visit
	stop()
	if !isUnanswered(err) {
		return visit{v, run(ctx, v)}
	}
	short, stop = mcp.WithLimit(ctx, "response", secondQuestion)
	defer stop()
	if !basics.Diagnose(short, v) {
		return visit{v, err}
	}
	if v.Hello.Result != nil { // it only started slowly
		v = p.Visit(protocol.EraStateless)
		return visit{v, run(ctx, v)}
	}
	return visit{v, nil}
}

// isUnanswered reports whether a session could not be opened because no response came.
func isUnanswered(err error) bool {
	_, late := errors.AsType[*mcp.TimeoutError](err)
	return late
}
