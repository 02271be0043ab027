package opener

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/client/protocol"
	"mcptest/internal/tape/cassette"
)

// mostSteps bounds a script; what comes later is no opening.
const mostSteps = 24

// Find returns the openings of the sessions of cassettes, in their order. Sessions that
// begin in another way, which no script can say, are counted in others.
func Find(cassettes []*cassette.Cassette, redactor *secret.Redactor) (found []Opening, others int, err error) {
	for _, c := range cassettes {
		some, more, err := findIn(c, redactor)
		if err != nil {
			return nil, 0, err
		}
		others += more
		for _, o := range some {
			found = add(found, o)
		}
	}
	return found, others, nil
}

// findIn returns the openings of one cassette.
func findIn(c *cassette.Cassette, redactor *secret.Redactor) (found []Opening, others int, err error) {
	calls, err := c.Calls()
	if err != nil {
		return nil, 0, err
	}
	sessions := map[int][]*cassette.Call{}
	for _, call := range calls {
		if call.Request != nil {
			sessions[call.Session] = append(sessions[call.Session], call)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(sessions)) {
		r := reader{cassette: c, redactor: redactor, out: Opening{Session: n}}
		for _, call := range sessions[n] {
			if !r.read(call) {
				break
			}
		}
		if r.out.Probe == nil && len(r.out.Legacy) == 0 {
			others++
			continue
		}
		found = append(found, r.out)
	}
	return found, others, c.Err()
}

// add adds an opening, or completes the one before it: a client that probes with a
// connection of its own opens with two, and one that asks for the era shows one of its two
// ways with each server.
func add(found []Opening, next Opening) []Opening {
	if len(found) == 0 {
		return append(found, next)
	}
	last := &found[len(found)-1]
	sameClient := last.Info.IsAbsent() || next.Info.IsAbsent() || jsonv.Equal(last.Info, next.Info)
	if last.Probe == nil || !sameClient {
		return append(found, next)
	}
	switch {
	case next.Probe == nil && len(last.Modern) == 0 && len(last.Legacy) == 0:
		last.Probe.WaitMS = 0
		last.Legacy = next.Legacy
	case next.Probe == nil || formatFlow(next.Probe.timeless()) != formatFlow(last.Probe.timeless()):
		return append(found, next)
	case len(last.Modern) == 0 && len(next.Legacy) == 0:
		last.Modern = next.Modern
	case len(last.Legacy) == 0 && len(next.Modern) == 0:
		last.Legacy, last.Probe.WaitMS = next.Legacy, next.Probe.WaitMS
	default:
		return append(found, next)
	}
	if next.Capabilities.Len() > 0 {
		last.Capabilities = next.Capabilities
	}
	if !next.Info.IsAbsent() {
		last.Info = next.Info
	}
	last.Dropped += next.Dropped
	return found
}

// reader reads the opening of one session.
type reader struct {
	cassette *cassette.Cassette
	redactor *secret.Redactor
	out      Opening
	offered  jsonv.Value // capabilities of the server
	waiting  *cassette.Call
	seen     map[string]bool
}

// read adds a message of the client, and reports whether the next one may belong to the
// opening.
func (r *reader) read(call *cassette.Call) bool {
	switch {
	case len(r.out.Legacy)+len(r.out.Modern) >= mostSteps || call.Verb == http.MethodDelete:
		return false
	case call.Verb == http.MethodGet:
		if len(r.out.Legacy) > 0 {
			r.out.Legacy = append(r.out.Legacy, Step{Listen: true})
		}
		return true
	case call.Method == "" || isIncidental(call.Method) || isTurnedAway(call):
		return true
	case acts(call.Method):
		return false
	}
	return r.step(call)
}

// isTurnedAway reports whether a request was refused for a reason that says nothing about it:
// the client repeats it.
func isTurnedAway(call *cassette.Call) bool {
	if call.Head == nil {
		return false
	}
	switch call.Head.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// isIncidental reports whether a message depends on what else happens, or begins a stream
// that stays open.
func isIncidental(method string) bool {
	switch method {
	case "notifications/cancelled", "notifications/progress", "subscriptions/listen", "ping":
		return true
	}
	return false
}

// acts reports whether a request belongs to the work that follows an opening.
func acts(method string) bool {
	switch method {
	case "tools/call", "resources/read", "resources/subscribe", "prompts/get", "completion/complete":
		return true
	}
	return strings.HasPrefix(method, "tasks/")
}

// step adds a frame.
func (r *reader) step(call *cassette.Call) bool {
	message, err := jsonv.Parse(r.redactor.Bytes(r.cassette.Data(call.Request)))
	if err != nil {
		return false
	}
	params := r.keep(message.Lookup("params"))
	st := Step{Method: call.Method, ID: message.Lookup("id"), Params: params}
	r.endWait(call)
	_, response := r.cassette.Exchange(call)
	switch {
	case !params.Lookup("cursor").IsAbsent():
		return true
	case call.Method == "server/discover" && len(r.out.Legacy) == 0:
		r.probe(call, st, response)
		return true
	case call.Method == "initialize" && len(r.out.Legacy) == 0 && len(r.out.Modern) == 0:
		r.initialize(st, response)
		return true
	case r.seen[call.Method] || r.out.Probe == nil && len(r.out.Legacy) == 0:
		return false
	}
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	r.seen[call.Method] = true
	r.addCondition(&st)
	if params.Lookup("_meta", protocol.MetaVersion).IsAbsent() {
		if len(r.out.Legacy) == 0 {
			return false
		}
		r.out.Legacy = append(r.out.Legacy, st)
		return true
	}
	st.Params = dropSelf(params)
	r.out.Modern = append(r.out.Modern, st)
	return true
}

// probe adds the first frame of a client that asks which era the server speaks.
func (r *reader) probe(call *cassette.Call, st Step, response jsonv.Value) {
	meta := st.Params.Lookup("_meta")
	r.introduce(meta.Lookup(protocol.MetaClient), meta.Lookup(protocol.MetaCapabilities))
	if offered := response.Lookup("result", "capabilities"); !offered.IsAbsent() {
		r.offered = offered
	}
	if r.out.Probe != nil { // the client asks again
		return
	}
	st.Params = dropSelf(st.Params)
	r.out.Probe, r.waiting = &st, call
}

// initialize adds the request that opens a session.
func (r *reader) initialize(st Step, response jsonv.Value) {
	r.introduce(st.Params.Lookup("clientInfo"), st.Params.Lookup("capabilities"))
	r.offered = response.Lookup("result", "capabilities")
	st.Version = st.Params.Lookup("protocolVersion").Text()
	rest := st.Params.Without("protocolVersion").Without("capabilities").Without("clientInfo")
	st.Params = jsonv.Value{}
	if rest.Len() > 0 {
		st.Params = rest
	}
	r.out.Legacy = append(r.out.Legacy, st)
}

// introduce notes what the client says of itself.
func (r *reader) introduce(info, capabilities jsonv.Value) {
	if info.Kind() == jsonv.KindObject {
		r.out.Info = info
	}
	if capabilities.Kind() == jsonv.KindObject {
		r.out.Capabilities = capabilities
	}
}

// endWait notes how long the client waited for an answer to its probe, if it went on without
// one.
func (r *reader) endWait(next *cassette.Call) {
	probe := r.waiting
	if probe == nil {
		return
	}
	r.waiting = nil
	answered := probe.Response != nil && probe.Response.At <= next.Request.At || probe.Head != nil
	if !answered {
		waited := (next.Request.At - probe.Request.At).Milliseconds()
		r.out.Probe.WaitMS = min(max(waited, 1), 60000)
	}
}

// addCondition says on what a step depends. Only the list of tools decides: of the others it is
// not known whether the client minds their answer.
func (r *reader) addCondition(st *Step) {
	needs := map[string]string{
		"tools/list": "tools", "resources/list": "resources", "resources/templates/list": "resources",
		"prompts/list": "prompts", "logging/setLevel": "logging",
	}[st.Method]
	switch {
	case st.Method == "tools/list":
		st.When = needs
	case !st.ID.IsAbsent():
		st.Optional = true
		if needs != "" && !r.offered.Lookup(needs).IsAbsent() {
			st.When = needs
		}
	}
}

// dropSelf removes what every request of a client without sessions says of the client.
func dropSelf(params jsonv.Value) jsonv.Value {
	meta := params.Lookup("_meta")
	if meta.IsAbsent() {
		return params
	}
	rest := meta.Without(protocol.MetaVersion).Without(protocol.MetaClient).Without(protocol.MetaCapabilities)
	if rest.Len() > 0 {
		return params.With("_meta", rest)
	}
	if params = params.Without("_meta"); params.Len() == 0 {
		return jsonv.Value{}
	}
	return params
}

// keep removes the members that hold a masked secret.
func (r *reader) keep(v jsonv.Value) jsonv.Value {
	for key, member := range v.Members() {
		text := member.Text()
		switch {
		case strings.Contains(text, secret.Mask) || strings.Contains(key, secret.Mask):
			v = v.Without(key)
			r.out.Dropped++
		case member.Kind() == jsonv.KindObject:
			v = v.With(key, r.keep(member))
		case member.Kind() == jsonv.KindArray && strings.Contains(member.String(), secret.Mask):
			v = v.Without(key)
			r.out.Dropped++
		}
	}
	return v
}
