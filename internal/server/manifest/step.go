package manifest

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"time"

	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
)

// Step is one action before a response. Exactly one field is set.
type Step struct {
	Delay    *Pause
	Log      *LogMessage
	Progress *Template
	Notify   *Notification
	Ask      []*Question
	Set      []Assignment
	Push     []Assignment
	Updated  *Template
	Write    *RawBytes
	Stderr   *Template
	Exit     *int
	Hang     bool
	Task     bool // from here on the call is a task
}

// Pause is a duration: fixed, or a text with placeholders.
type Pause struct {
	fixed time.Duration
	text  *Template
}

// LogMessage is a message sent by notifications/message.
type LogMessage struct {
	Level, Logger string
	Data          *Template
}

// Notification is a notification with any method.
type Notification struct {
	Method string
	Params *Template // nil for none
}

// Question is a request to the client. Its response is ${ask.<as>}.
type Question struct {
	As, Method, Needs string // needs: the capability the client must have declared
	Optional          bool   // skipped for a client that did not
	Params            *Template
}

// Assignment sets the state at keys, which may have placeholders.
type Assignment struct {
	Keys []*Template
	To   *Template
}

// stepKeys are the keys of a step.
type stepKeys struct {
	// Wait so long.
	Delay *source.Node `yaml:"delay"`
	// Send a log message: text, or {level, logger, data}.
	Log *source.Node `yaml:"log" keys:"log"`
	// Report progress if the client asked for it: a number, or {progress, total, message}.
	Progress *source.Node `yaml:"progress" keys:"progress"`
	// Send a notification: {method, params}.
	Notify *source.Node `yaml:"notify" keys:"notification"`
	// Ask the client: {as, sampling | elicitation | roots, optional}, or a list of such that are asked at once.
	Ask *source.Node `yaml:"ask" keys:"question"`
	// Set members of the state.
	Set *source.Node `yaml:"set"`
	// Append to lists of the state.
	Push *source.Node `yaml:"push"`
	// Tell subscribers that the resource of this uri changed.
	Updated *source.Node `yaml:"updated"`
	// Put bytes on the wire as they are.
	Write *source.Node `yaml:"write" keys:"bytes"`
	// Write a line to standard error.
	Stderr *source.Node `yaml:"stderr"`
	// End the process with this exit code.
	Exit *int `yaml:"exit"`
	// Never respond.
	Hang bool `yaml:"hang"`
	// true: become a task here, not at the start; in a tool with task:.
	Task bool `yaml:"task"`
}

func (c compiler) compileSteps(n *source.Node, path string) []*Step {
	if n.Kind != source.KindList {
		c.d.ReportWrongType(n, path, "a list of steps")
		return nil
	}
	out := make([]*Step, 0, len(n.Items))
	for i, item := range n.Items {
		out = append(out, c.step(item, source.PathIndex(path, i)))
	}
	return out
}

func (c compiler) step(n *source.Node, path string) *Step {
	s := &Step{}
	var k stepKeys
	c.d.Decode(n, path, &k)
	if n.Kind != source.KindMap {
		return s
	}
	if len(n.Fields) != 1 {
		names := lists.Map(source.Fields(reflect.TypeFor[stepKeys]()), func(f source.FieldInfo) string { return f.Name })
		c.d.Errorf(n, path, "a step does exactly one thing").Hint = "one of " + strings.Join(names, ", ")
		return s
	}
	if k.Task && !c.tasks {
		c.d.Errorf(n, path+".task", "only a tool with task: can become a task").Hint = "task: optional on the tool allows it to respond with a task"
	}
	s.Exit, s.Hang, s.Task = k.Exit, k.Hang, k.Task
	s.Delay = compileOptional(k.Delay, path+".delay", c.compileDuration)
	s.Log = compileOptional(k.Log, path+".log", c.log)
	s.Progress = compileOptional(k.Progress, path+".progress", c.compileProgress)
	s.Notify = compileOptional(k.Notify, path+".notify", c.notify)
	s.Ask = compileOptional(k.Ask, path+".ask", c.compileAsks)
	s.Set = compileOptional(k.Set, path+".set", c.compileAssignments)
	s.Push = compileOptional(k.Push, path+".push", c.compileAssignments)
	s.Updated = compileOptional(k.Updated, path+".updated", c.compile)
	s.Write = compileOptional(k.Write, path+".write", c.compileRawBytes)
	s.Stderr = compileOptional(k.Stderr, path+".stderr", c.compile)
	return s
}

// maxDelay bounds a pause.
const maxDelay = 10 * time.Minute

func (c compiler) compileDuration(n *source.Node, path string) *Pause {
	if n.Kind == source.KindString {
		if t := c.compile(n, path); !t.static {
			return &Pause{text: t}
		}
	}
	p := &Pause{}
	c.d.Decode(n, path, &p.fixed)
	if p.fixed > maxDelay {
		c.d.Errorf(n, path, "must be at most %s, got %s", maxDelay, n.Text)
	}
	return p
}

// LogLevels are the levels of MCP, least severe first (RFC 5424).
var LogLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// logKeys are the keys of the long form of log.
type logKeys struct {
	// The level of the log message.
	Level string `yaml:"level" enum:"debug|info|notice|warning|error|critical|alert|emergency" default:"info"`
	// The name of the logger.
	Logger string `yaml:"logger"`
	// What is logged.
	Data *source.Node `yaml:"data,required"`
}

func (c compiler) log(n *source.Node, path string) *LogMessage {
	if n.IsScalar() {
		return &LogMessage{Level: "info", Data: c.compile(n, path)}
	}
	var m logKeys
	c.d.Decode(n, path, &m)
	m.Level = cmp.Or(m.Level, "info")
	return &LogMessage{Level: m.Level, Logger: m.Logger, Data: c.compile(m.Data, path+".data")}
}

// progressKeys are the keys of the long form of progress.
type progressKeys struct {
	// How much is done.
	Progress *source.Node `yaml:"progress,required"`
	// How much there is to do.
	Total *source.Node `yaml:"total"`
	// What is done at the moment.
	Message *source.Node `yaml:"message"`
}

func (c compiler) compileProgress(n *source.Node, path string) *Template {
	if n.IsScalar() {
		if n.Kind != source.KindInt && n.Kind != source.KindFloat && !strings.Contains(n.Text, "${") {
			c.d.ReportWrongType(n, path, "a number or a map")
		}
		return newComposite(source.KindMap, []string{"progress"}, c.compile(n, path))
	}
	var m progressKeys
	c.d.Decode(n, path, &m)
	return c.compile(n, path)
}

// notifyKeys are the keys of the long form of notify.
type notifyKeys struct {
	// The method of the notification.
	Method string `yaml:"method,required"`
	// Its params.
	Params *source.Node `yaml:"params"`
}

func (c compiler) notify(n *source.Node, path string) *Notification {
	var m notifyKeys
	if n.Kind == source.KindString {
		return &Notification{Method: n.Text}
	}
	c.d.Decode(n, path, &m)
	return &Notification{Method: m.Method, Params: compileOptional(m.Params, path+".params", c.compile)}
}

// compileAssignments compiles {path: value}. A dot in a path descends one level:
// notes.${args.id} sets a member of notes.
func (c compiler) compileAssignments(n *source.Node, path string) []Assignment {
	if n.Kind != source.KindMap {
		c.d.ReportWrongType(n, path, "a map of names of the state")
		return nil
	}
	var out []Assignment
	for _, f := range n.Fields {
		at := source.PathKey(path, f.Key.Text)
		a := Assignment{To: c.compile(f.Value, at)}
		for _, key := range splitKeys(c.splitParts(f.Key, at)) {
			if len(key) == 0 {
				c.d.Errorf(f.Key, at, "a name is empty")
			}
			a.Keys = append(a.Keys, newTextTemplate(key))
		}
		out = append(out, a)
	}
	return out
}

// splitKeys splits a path at the dots of its literal parts.
func splitKeys(parts []part) [][]part {
	out := [][]part{nil}
	for _, p := range parts {
		pieces := strings.Split(p.lit, ".")
		for i, piece := range pieces {
			if i > 0 {
				out = append(out, nil)
			}
			p.lit = piece
			if piece != "" || p.e != nil {
				out[len(out)-1] = append(out[len(out)-1], p)
			}
		}
	}
	return out
}

// Of returns the duration to wait.
func (p *Pause) Of(values Values) (time.Duration, error) {
	if p.text == nil {
		return min(p.fixed, maxDelay), nil
	}
	text := p.text.Text(values)
	d, err := source.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("delay %q: %w", text, err)
	}
	return min(max(d, 0), maxDelay), nil
}
