package cassette

import (
	"maps"
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
)

// RecordedClient is the client of a recorded session, as far as a server depends on it.
type RecordedClient struct {
	Protocol     string      // version that the session used; "": unknown
	Capabilities jsonv.Value // that it declared; absent: unknown
	Asked        []Asked     // in the recorded order
	// Exit is how its server ended, if it had answered everything and no signal ended it;
	// otherwise nil.
	Exit *Exit
}

// Asked is a request of the server to the client, and the client's answer.
type Asked struct {
	Call           *Call         // that the request belongs to
	Idle           bool          // it was made when the call had its response, or needed none
	Answered, Next time.Duration // times of the answer and of the client's next message, if Idle
	Method         string
	Params         jsonv.Value
	Result, Error  jsonv.Value // one of them
}

// ListClients returns the clients of all sessions, by the number of the session.
func (c *Cassette) ListClients(calls []*Call) map[int]*RecordedClient {
	clients := map[int]*RecordedClient{}
	input := map[int]map[string]Asked{} // the inputs that a result required, by key
	for _, call := range calls {
		client := clients[call.Session]
		if client == nil {
			client = &RecordedClient{}
			clients[call.Session] = client
		}
		client.Exit = nil
		if call.Request == nil {
			continue
		}
		if last := call.Frames; len(last) > 0 && (call.ID == "" || call.Response != nil) {
			client.Exit = last[len(last)-1].End.findNormalExit()
		}
		request, response := c.Exchange(call)
		if n := len(client.Asked); n > 0 && client.Asked[n-1].Next == 0 {
			client.Asked[n-1].Next = call.Request.At
		}
		params := request.Lookup("params")
		client.learn(call.Method, params, response)
		for key, result := range params.Lookup("inputResponses").Members() {
			if asked, ok := input[call.Session][key]; ok {
				asked.Call, asked.Result = call, result
				client.Asked = append(client.Asked, asked)
			}
		}
		if required := response.Lookup("result", "inputRequests"); !required.IsAbsent() {
			input[call.Session] = map[string]Asked{}
			for key, v := range required.Members() {
				input[call.Session][key] = Asked{Method: v.Lookup("method").Text(), Params: v.Lookup("params")}
			}
		}
		c.addAnswers(client, call)
	}
	return clients
}

// learn takes from a request which revision the client speaks, and what it declares.
func (client *RecordedClient) learn(method string, params, response jsonv.Value) {
	declared := params.Lookup("_meta", protocol.MetaCapabilities)
	switch {
	case method == "initialize":
		declared = params.Lookup("capabilities")
		client.Protocol = response.Lookup("result", "protocolVersion").Text()
	case client.Protocol == "" && !response.Lookup("result").IsAbsent():
		client.Protocol = params.Lookup("_meta", protocol.MetaVersion).Text()
	}
	if client.Capabilities.Len() == 0 && declared.Kind() == jsonv.KindObject {
		client.Capabilities = declared
	}
}

// Versions returns the protocol versions of the sessions, as their messages say, in the order of
// the sessions.
func (c *Cassette) Versions(calls []*Call) (out []string) {
	clients := c.ListClients(calls)
	for _, n := range slices.Sorted(maps.Keys(clients)) {
		if v := clients[n].Protocol; v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// addAnswers adds the answers of a client to the requests among the frames of a call.
func (c *Cassette) addAnswers(client *RecordedClient, call *Call) {
	asked := map[string]Asked{}
	idle := call.ID == ""
	for _, f := range call.Frames {
		v := c.Value(f)
		id := v.Lookup("id").String()
		idle = idle || f == call.Response
		method := v.Lookup("method").Text()
		switch {
		case f.Dir == FromServer && method != "" && method != "ping":
			asked[id] = Asked{Call: call, Idle: idle, Method: method, Params: v.Lookup("params")}
		case f.Dir == ToServer && method == "":
			if a, ok := asked[id]; ok {
				a.Answered = f.At
				a.Result, a.Error = v.Lookup("result"), v.Lookup("error")
				client.Asked = append(client.Asked, a)
			}
		}
	}
}
