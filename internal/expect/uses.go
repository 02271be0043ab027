package expect

// Uses says which parts of an observation a tree looks at. Parts that are not
// used may be left out of the [Observation]; of an unused Result its isError
// member must still be there, and Error always, since a failed call fails the
// test regardless of the assertions.
type Uses struct {
	// Result is set for text and structured too, which are made from it.
	Result, Text, Structured                bool
	Notifications, Logs, Progress, Requests bool
	ResponseBytes                           bool
	HTTP, Stderr, Server, Steps, Surface    bool
	Upstream                                bool
	Exec                                    bool // runs programs
}

// Exclusive reports whether the test must hold its session alone: what it
// looks at cannot be distinguished from what other calls cause.
func (u Uses) Exclusive() bool {
	return u.Notifications || u.Logs || u.Progress || u.Requests || u.Stderr || u.Upstream
}

// Uses returns what the tree looks at.
func (t *Tree) Uses() Uses {
	var u Uses
	u.add(t.Items)
	return u
}

// Add unites two trees' uses, for tests of several calls.
func (u Uses) Add(v Uses) Uses {
	return Uses{
		Result: u.Result || v.Result, Text: u.Text || v.Text, Structured: u.Structured || v.Structured,
		Notifications: u.Notifications || v.Notifications, Logs: u.Logs || v.Logs,
		Progress: u.Progress || v.Progress, Requests: u.Requests || v.Requests,
		ResponseBytes: u.ResponseBytes || v.ResponseBytes,
		HTTP:          u.HTTP || v.HTTP, Stderr: u.Stderr || v.Stderr, Server: u.Server || v.Server, Steps: u.Steps || v.Steps,
		Surface: u.Surface || v.Surface, Upstream: u.Upstream || v.Upstream,
		Exec: u.Exec || v.Exec,
	}
}

func (u *Uses) add(items []Item) {
	for i := range items {
		if set := items[i].Set; set != nil {
			u.add(set.Items)
			continue
		}
		u.addTarget(items[i].Assertion.Target)
		if k, ok := items[i].Assertion.Matcher.(*check); ok && k.execs {
			u.Exec = true
		}
	}
}

// Uses returns what a target looks at, for targets outside of trees.
func (t *Target) Uses() Uses {
	var u Uses
	u.addTarget(t)
	return u
}

func (u *Uses) addTarget(t *Target) {
	switch t.root.part {
	case partResult:
		u.Result = true
	case partText, partRefusal:
		u.Result, u.Text = true, true
	case partStructured:
		u.Result, u.Structured = true, true
	case partNotifications:
		u.Notifications = true
	case partLogs:
		u.Logs = true
	case partProgress:
		u.Progress = true
	case partRequests:
		u.Requests = true
	case partBytes:
		u.ResponseBytes = true
	case partHTTPStatus, partHTTPHeaders:
		u.HTTP = true
	case partStderr:
		u.Stderr = true
	case partServer:
		u.Server = true
	case partSteps:
		u.Steps = true
	case partSurface:
		u.Surface = true
	case partUpstream:
		u.Upstream = true
	}
}
