package basics

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/handshake"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/probe/exam"
	"mcptest/internal/run/probe/verdict"
)

// introduce sends initialize with a version, for a client that can do everything, on a
// connection of its own. With the exchange is what came before notifications/initialized.
func introduce(ctx context.Context, v *exam.Visit, version string) *mcp.Exchange {
	return v.Alone(ctx, newIntroduction(v, version))
}

// newIntroduction sends initialize on a connection of its own, and waits for what follows.
func newIntroduction(v *exam.Visit, version string) func(context.Context, *conn.Conn) *mcp.Exchange {
	caps := jsonv.ObjectOf("roots", jsonv.Object(), "sampling", jsonv.Object(), "elicitation", jsonv.Object())
	return func(ctx context.Context, c *conn.Conn) *mcp.Exchange {
		mark := c.Mark()
		call := mcp.Call{Method: "initialize", Params: exam.Text(v.Greeting(version, caps)), Header: withoutVersion()}
		x := c.Do(ctx, call, conn.Delivery{})
		if x.Result != nil {
			time.Sleep(200 * time.Millisecond)
		}
		x.During = c.Messages(mark)
		return x
	}
}

// withoutVersion leaves out the headers that a client adds once a version is negotiated: no client
// sends them with initialize, and a server may take them for a request of the stateless era.
func withoutVersion() http.Header {
	return http.Header{"Mcp-Protocol-Version": nil, "Mcp-Method": nil}
}

// readConfirmedVersion returns the version that a server answers initialize with.
func readConfirmedVersion(x *mcp.Exchange) string {
	return exam.Result(x).Lookup("protocolVersion").Text()
}

// Lifecycle examines the handshake.
func Lifecycle(ctx context.Context, v *exam.Visit) {
	if v.Modern() {
		v.State(ctx, "discover-present", "", judgeDiscover(v))
		v.Check(ctx, "lifecycle-modern-initialize", "", func(ctx context.Context) exam.Outcome {
			older := isDual(ctx, v)
			switch {
			case isUndecided(v.Greeted):
				return exam.Unverified("initialize got %s", exam.Answer(v.Greeted))
			case older:
				return exam.Inapplicable("the server speaks versions with initialize, too")
			case !exam.Refused(v.Greeted):
				return exam.Unverified("initialize got %s", exam.Answer(v.Greeted))
			}
			isNamed := strings.Contains(exam.Shown(v.Greeted).Received, v.Version.Name)
			return exam.BrokenIf(!isNamed, v.Greeted, "the error to initialize does not name %s", v.Version.Name)
		})
		return
	}
	v.State(ctx, "lifecycle-result", "", judgeInitialize(v.Hello))
	// This comes first: a server that has one session for all times refuses the others later.
	v.Check(ctx, "lifecycle-second", "", func(ctx context.Context) exam.Outcome { return introduceSecond(ctx, v) })
	offer := offerVersion(ctx, v)
	v.Check(ctx, "lifecycle-early-request", "", func(ctx context.Context) exam.Outcome { return checkEarly(ctx, v, offer) })
	checkSupportedVersions(ctx, v, offer)
}

// madeUp is a version that no server supports.
const madeUp = "1999-01-01"

// offerVersion offers a made-up version, and returns the exchange; nil if the rule is not examined.
func offerVersion(ctx context.Context, v *exam.Visit) (offer *mcp.Exchange) {
	once := "" // why the server is not there a second time
	v.Check(ctx, "lifecycle-version-offer", "", func(ctx context.Context) exam.Outcome {
		offer = introduce(ctx, v, madeUp)
		if offer.Result == nil && !v.Stdio() {
			v.Close() // the session that is open may be the only one
			offer = introduce(ctx, v, madeUp)
		}
		if offer.Result != nil {
			return exam.BrokenIf(readConfirmedVersion(offer) == madeUp, offer, "the made-up version %s was confirmed", madeUp)
		}
		if once = explainOnlyOnce(ctx, v); once != "" {
			return exam.Unverified("%s", once)
		}
		if offer.Response == nil && !exam.Refused(offer) {
			return exam.Broken(offer, "initialize with the version %s got %s", madeUp, exam.Answer(offer))
		}
		return exam.Held() // an error that names versions is the specification's own example
	})
	if offer == nil || !exam.Refused(offer) {
		return offer
	}
	naming := exam.Unverified("%s", once)
	if once == "" {
		names := slices.ContainsFunc(protocol.Versions(), func(known string) bool { return strings.Contains(exam.Shown(offer).Received, known) })
		naming = exam.BrokenIf(!names, offer, "the refusal of an unknown version names no version that the server supports")
	}
	v.State(ctx, "lifecycle-version-error", "", naming)
	return offer
}

// explainOnlyOnce says why a further initialize with the version of the session is refused, too:
// the server may have one session only, or hold a port or a lock. "" means that it is served.
func explainOnlyOnce(ctx context.Context, v *exam.Visit) string {
	var control *mcp.Exchange
	for range 2 { // the first may have waited long enough for the end of the process before it
		control = introduce(ctx, v, v.Version.Name)
		if control.Result == nil {
			break
		}
	}
	if control.Result != nil {
		return ""
	}
	return "only one at a time: initialize with " + v.Version.Name + " got " + exam.Answer(control)
}

// checkEarly examines what comes before notifications/initialized.
func checkEarly(ctx context.Context, v *exam.Visit, offer *mcp.Exchange) exam.Outcome {
	if offer == nil || offer.Result == nil {
		offer = introduce(ctx, v, v.Version.Name)
	}
	if offer.Result == nil {
		return exam.Unverified("only one at a time: initialize got %s", exam.Answer(offer))
	}
	for _, m := range offer.During {
		if m.Kind == mcp.KindRequest && m.Method != "ping" {
			evidence := verdict.Evidence{Sent: string(offer.Request), Received: string(m.Raw)}
			return exam.BrokenBy(evidence, "the server sent %s before notifications/initialized", m.Method)
		}
	}
	return exam.Held()
}

// checkSupportedVersions asks for the other versions that the server says it supports.
func checkSupportedVersions(ctx context.Context, v *exam.Visit, offer *mcp.Exchange) {
	stated := append(v.Stated, exam.ErrorData(offer).Lookup("supported").Texts()...)
	for _, version := range stated {
		if protocol.VersionOf(version).Era() != protocol.EraSession || version == v.Version.Name {
			continue
		}
		v.Check(ctx, "lifecycle-version-echo", version, func(ctx context.Context) exam.Outcome {
			x := introduce(ctx, v, version)
			if x.Result == nil && !v.Stdio() {
				v.Close()
				x = introduce(ctx, v, version)
			}
			if x.Result == nil {
				if once := explainOnlyOnce(ctx, v); once != "" {
					return exam.Unverified("%s", once)
				}
			}
			got := cmp.Or(readConfirmedVersion(x), exam.Answer(x))
			return exam.BrokenIf(readConfirmedVersion(x) != version, x, "the server supports %s, but answered it with %s", version, got)
		})
	}
	if len(stated) == 0 {
		v.Enter(exam.Unverified("no second version is known that the server supports"), "lifecycle-version-echo")
	}
}

// judgeInitialize examines the result of initialize: its members, and those of the capabilities
// that make a client refuse it.
func judgeInitialize(x *mcp.Exchange) exam.Outcome {
	for _, path := range []string{"protocolVersion", "capabilities", "serverInfo", "serverInfo.name", "serverInfo.version"} {
		kind := jsonv.KindString
		if path == "capabilities" || path == "serverInfo" {
			kind = jsonv.KindObject
		}
		if got := exam.Result(x).Lookup(strings.Split(path, ".")...); got.Kind() != kind {
			return exam.Broken(x, "%s of the result of initialize is %s, expected %s", path, got.Kind(), kind)
		}
	}
	for _, fault := range handshake.Faults(exam.Result(x), false) {
		if strings.HasPrefix(fault.Path, "capabilities.") && len(fault.Refused) > 0 {
			return exam.Broken(x, "%s", fault)
		}
	}
	return exam.Held()
}

// judgeDiscover examines the result of server/discover.
func judgeDiscover(v *exam.Visit) exam.Outcome {
	x, res := v.Hello, exam.Result(v.Hello)
	if x.Result == nil {
		return exam.Broken(x, "server/discover got %s, but other requests of 2026-07-28 are served", exam.Answer(x))
	}
	if kind := res.Lookup("supportedVersions").Kind(); kind != jsonv.KindArray {
		return exam.Broken(x, "supportedVersions of server/discover is %s, expected a list", kind)
	}
	if !slices.Contains(res.Lookup("supportedVersions").Texts(), v.Version.Name) {
		return exam.Broken(x, "supportedVersions of server/discover lacks %s, whose requests are served", v.Version.Name)
	}
	kind := res.Lookup("capabilities").Kind()
	return exam.BrokenIf(kind != jsonv.KindObject, x, "capabilities of server/discover is %s, expected an object", kind)
}

// greetings is how many times initialize is sent to a server of a stateless revision, if it
// gets a status that may answer anything.
const greetings = 3

// isDual reports whether a server of a stateless revision speaks versions with sessions, too:
// it says so, or serves initialize. One of which this cannot be found out may speak them.
func isDual(ctx context.Context, v *exam.Visit) bool {
	for range greetings {
		if v.Greeted == nil || exam.RefusesAll(exam.Status(v.Greeted)) {
			v.Greeted = introduce(ctx, v, protocol.Newest(protocol.EraSession).Name)
		}
	}
	return v.Greeted.Result != nil || isUndecided(v.Greeted) || slices.ContainsFunc(v.Stated, withSessions)
}

// isUndecided reports whether a response to initialize does not show if the method is served.
func isUndecided(x *mcp.Exchange) bool { return exam.Silent(x) || exam.RefusesAll(exam.Status(x)) }

// withSessions reports whether a version is one with sessions.
func withSessions(name string) bool {
	version := protocol.VersionOf(name)
	return version.Known() && version.Era() == protocol.EraSession
}

// diagnosis is the time for a response of a server that did not answer the handshake.
const diagnosis = 3 * time.Second

// Diagnose examines a server whose handshake failed: a defective handshake is the defect
// of a rule. It reports whether the server speaks the era.
func Diagnose(ctx context.Context, v *exam.Visit) bool {
	v.Version = protocol.Newest(v.Era)
	if !v.Modern() {
		x := introduce(ctx, v, v.Version.Name)
		res := exam.Result(x)
		if res.Kind() != jsonv.KindObject || res.Lookup("protocolVersion").Kind() == jsonv.KindString {
			return false
		}
		v.Check(ctx, "lifecycle-result", "", func(ctx context.Context) exam.Outcome {
			return judgeInitialize(introduce(ctx, v, v.Version.Name))
		})
		return true
	}
	c, err := v.Bare(ctx)
	if err != nil {
		return false
	}
	defer c.Close(context.WithoutCancel(ctx))
	send := func(ctx context.Context, method string) *mcp.Exchange {
		ctx, cancel := mcp.WithLimit(ctx, "response", min(v.Reply, diagnosis))
		defer cancel()
		return c.Do(ctx, mcp.Call{
			Method: method,
			Params: exam.Text(jsonv.ObjectOf("_meta", v.Meta())),
		}, conn.Delivery{Version: v.Version})
	}
	served := false
	for _, method := range []string{"tools/list", "resources/list", "prompts/list"} {
		x := send(ctx, method)
		if served = exam.Result(x).Lookup("resultType").Kind() == jsonv.KindString; served || exam.Silent(x) {
			break
		}
	}
	if served {
		v.Check(ctx, "discover-present", "", func(ctx context.Context) exam.Outcome {
			v.Hello = send(ctx, protocol.MethodDiscover)
			return judgeDiscover(v)
		})
	}
	return served
}
