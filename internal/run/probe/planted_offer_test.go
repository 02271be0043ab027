package probe_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func text(s string) object { return object{"type": "text", "text": s} }

func readOnly(tool object) object {
	tool["annotations"] = object{"readOnlyHint": true}
	return tool
}

func schema(required []string, properties object) object {
	s := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// tools are the definitions of the server's tools.
func (l *link) tools() []object {
	str := object{"type": "string"}
	if l.bare {
		return []object{{"name": "add_note", "inputSchema": schema([]string{"text"}, object{"text": str})}}
	}
	echo := readOnly(object{"name": "echo", "description": "Returns the text.", "inputSchema": schema([]string{"text"}, object{"text": str}), "outputSchema": schema([]string{"text"}, object{"text": str})})
	list := []object{
		echo,
		readOnly(object{"name": "list_notes", "inputSchema": schema(nil, object{})}),
		{"name": "add_note", "inputSchema": schema([]string{"text"}, object{"text": str})},
		{"name": "get_and_reset", "inputSchema": schema(nil, object{})},
		readOnly(object{"name": "find_order", "inputSchema": schema([]string{"id"}, object{"id": object{"type": "integer"}})}),
		readOnly(object{"name": "count", "inputSchema": schema(nil, object{"to": object{"type": "integer", "default": 3}})}),
		readOnly(object{"name": "greet", "inputSchema": schema([]string{"who"}, object{"who": object{"type": "string", "default": "you"}})}),
		readOnly(object{"name": "picture", "inputSchema": schema(nil, object{})}),
	}
	list = append(list, readOnly(object{"name": "lookup", "inputSchema": schema(nil, object{"region": object{"type": "string", "x-mcp-header": "Region"}})}))
	if l.grown {
		list = append(list, readOnly(object{"name": "grown", "inputSchema": schema(nil, object{})}))
	}
	if !l.bare {
		list = append(list, readOnly(object{"name": "ask", "inputSchema": schema([]string{"topic"}, object{"topic": str}), "outputSchema": schema(nil, object{})}))
	}
	switch l.defect {
	case "tool-name/space":
		list[1]["name"] = "list notes"
	case "tool-name/long":
		list[1]["name"] = strings.Repeat("n", 129)
	case "tool-schema/null":
		list[1]["inputSchema"] = nil
	case "tool-schema/no-type":
		list[1]["inputSchema"] = object{"properties": object{}}
	case "tool-schema/invalid":
		list[1]["inputSchema"] = object{"type": "object", "properties": object{"a": object{"type": "strng"}}}
	case "tool-header-param/twice":
		list[1]["inputSchema"] = schema(nil, object{"a": object{"type": "string", "x-mcp-header": "A"}, "b": object{"type": "string", "x-mcp-header": "a"}})
	case "tool-header-param/empty":
		list[1]["inputSchema"] = schema(nil, object{"a": object{"type": "string", "x-mcp-header": ""}})
	case "list-unique/twice":
		list = append(list, list[1])
	case "list-order/turns":
		k := l.turns % len(list)
		list = append(list[k:], list[:k]...)
	case "list-stable/connection":
		if l.n%2 == 1 {
			list = list[:4]
		}
	case "task-required/served":
		list[1]["execution"] = object{"taskSupport": "required"}
	}
	return list
}

func (l *link) resources() []object {
	list := []object{{"uri": "note:///first", "name": "first"}, {"uri": "note:///logo", "name": "logo", "mimeType": "image/png"}}
	switch l.defect {
	case "resource-uri-syntax/relative":
		list = append(list, object{"uri": "first", "name": "relative"})
	case "resource-listed-readable/missing":
		list = append(list, object{"uri": "note:///gone", "name": "gone"})
	case "list-unique-others/twice":
		list = append(list, list[0])
	}
	return list
}

func (l *link) prompts() []object {
	return []object{{"name": "plain"}, {"name": "greet", "arguments": []object{{"name": "who", "required": true}}}, {"name": "picture"}}
}

// list returns a page of a list: tools have pages of three.
func (l *link) list(m message) (object, *failure) {
	kind := strings.Split(m.Method, "/")[0]
	if !l.has(kind) || l.bare && kind != "tools" {
		return nil, fail(-32601, "method not found")
	}
	switch {
	case m.Method == "resources/templates/list":
		if l.is("resource-traversal/file") {
			return object{"resourceTemplates": []object{{"uriTemplate": "file:///data/{+path}", "name": "file"}}}, nil
		}
		return object{"resourceTemplates": []object{{"uriTemplate": "user:///{name}", "name": "user"}}}, nil
	case kind == "resources":
		return object{"resources": l.resources()}, nil
	case kind == "prompts":
		if l.is("message-schema/prompts") {
			return object{"prompts": []object{{"description": "no name"}}}, nil
		}
		return object{"prompts": l.prompts()}, nil
	}
	if l.is("message-schema/tools") {
		return object{"tools": object{}}, nil
	}
	if m.params["cursor"] == nil {
		l.turns++
	}
	all, from := l.tools(), 0
	info, _ := m.meta["io.modelcontextprotocol/clientInfo"].(map[string]any)
	if l.is("client-info-list/name") && info["name"] == "cursor-vscode" {
		all = all[:len(all)-1] // the last tool of the last page
	}
	if cursor, ok := m.params["cursor"].(string); ok {
		if _, err := fmt.Sscanf(cursor, "from-%d", &from); (err != nil || from > len(all)) && !l.is("list-cursor-invalid/ignored") {
			return nil, fail(-32602, "unknown cursor")
		}
	}
	to := min(len(all), from+3)
	res := object{"tools": all[from:to]}
	if to < len(all) {
		res["nextCursor"] = fmt.Sprintf("from-%d", to)
		if l.is("list-cursor-end/same") {
			res["nextCursor"] = "from-3"
		}
	}
	return res, nil
}

func (l *link) notify(m message, method, params string) {
	l.send(`{"jsonrpc":"2.0","method":"` + method + `","params":{` + params + `}}`)
}

// log sends a log message at level info, if the client wants it.
func (l *link) log(m message) {
	wanted := !l.bare && l.has("logging")
	if m.modern {
		_, asked := m.meta["io.modelcontextprotocol/logLevel"]
		wanted = l.has("logging") && asked
	} else if l.level != "" {
		wanted = wanted && slices.Index(levels, l.level) <= slices.Index(levels, "info")
	}
	if m.params["name"] == "ask" && l.is("logging-filter/last") {
		wanted = true
	}
	if wanted || l.is("logging-unasked/sends") || l.is("logging-undeclared/sends") || l.is("logging-filter/ignored") {
		level := "info"
		if l.is("message-schema/level") && m.params["name"] == "ask" { // the last tool
			level = "warn"
		}
		l.notify(m, "notifications/message", `"level":"`+level+`","data":"called"`)
	}
}

// progress sends three notifications if the client asked for them.
func (l *link) progress(m message) {
	if m.meta["progressToken"] == nil {
		return
	}
	raw := fmt.Sprint(m.meta["progressToken"])
	if s, ok := m.meta["progressToken"].(string); ok {
		raw = fmt.Sprintf("%q", s)
		if n, err := strconv.Atoi(s); err == nil && l.is("progress-token/number") {
			raw = strconv.Itoa(n)
		}
	}
	if f, ok := m.meta["progressToken"].(float64); ok {
		raw = fmt.Sprintf("%.0f", f)
	}
	if l.is("progress-token/other") {
		raw = `"someone-else"`
	}
	for i := 1; i <= 3; i++ {
		now := i
		if l.is("progress-increases/stays") {
			now = 1
		}
		total := "3"
		if l.is("message-schema/total") && i == 3 {
			total = `"all"`
		}
		l.notify(m, "notifications/progress", fmt.Sprintf(`"progressToken":%s,"progress":%d,"total":%s`, raw, now, total))
	}
	if l.is("progress-after/late") {
		go func() {
			time.Sleep(20 * time.Millisecond)
			l.notify(m, "notifications/progress", fmt.Sprintf(`"progressToken":%s,"progress":4,"total":3`, raw))
		}()
	}
}

func (l *link) callTool(m message) (object, *failure) {
	name, _ := m.params["name"].(string)
	args, _ := m.params["arguments"].(object)
	if i := slices.IndexFunc(l.tools(), func(t object) bool { return t["name"] == name }); i < 0 {
		if l.is("tool-unknown/served") {
			return object{"content": []object{text("ok")}}, nil
		}
		return nil, fail(-32602, "unknown tool %s", name)
	}
	l.log(m)
	if l.is("undeclared-request/sampling") && !m.modern {
		l.send(`{"jsonrpc":"2.0","id":"s1","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`)
	}
	if l.is("server-request/roots") && m.modern {
		l.send(`{"jsonrpc":"2.0","id":"s1","method":"roots/list"}`)
	}
	if l.is("cancel-by-server/sends") && m.modern {
		l.notify(m, "notifications/cancelled", `"requestId":`+string(m.ID))
	}
	if args == nil && m.params["arguments"] != nil && !l.is("argument-crash/list") {
		return nil, fail(-32602, "arguments must be an object")
	}
	if args["arguments"] != nil && l.is("argument-text-json/crash") {
		panic("arguments in arguments")
	}
	if l.is("argument-crash/list") && args == nil && m.params["arguments"] != nil {
		panic("a list")
	}
	if bad := l.asTask(m); bad != nil {
		return nil, bad
	}
	if m.params["task"] != nil && l.is("task-ignored/created") {
		return object{"task": object{"taskId": "t1", "status": "working"}}, nil
	}
	l.announce(m, name)
	return l.work(m, name, args)
}

func (l *link) work(m message, name string, args object) (object, *failure) {
	str := func(key string) (string, *failure) {
		s, ok := args[key].(string)
		if strings.HasPrefix(l.defect, "fuzz-crash/") { // only then: a pattern of 300 kB takes longer than a response may
			if _, err := regexp.Compile(s); err != nil {
				if l.http {
					l.gone()
				}
				panic(http.ErrAbortHandler)
			}
		}
		switch {
		case !ok && l.is("argument-trace/stack"):
			return "", fail(-32602, "TypeError: text is not a string\n    at handle (/app/server.js:10:5)\n    at run (/app/main.js:2:1)")
		case !ok && l.is("argument-crash/gone") && args[key] != nil:
			l.gone()
			panic(http.ErrAbortHandler)
		case !ok && l.is("argument-crash/type") && args[key] != nil:
			panic("not a string")
		case !ok && l.is("tool-required/served"):
			return "", nil
		case !ok:
			return "", fail(-32602, "%s must be a text", key)
		}
		return s, nil
	}
	switch name {
	case "add_note", "get_and_reset":
		l.mu.Lock()
		l.writes++
		l.mu.Unlock()
		return object{"content": []object{text("done")}}, nil
	case "find_order":
		return object{"content": []object{text("there is no such order")}, "isError": true}, nil
	case "count":
		if l.progress(m); l.is("late/count") {
			return nil, nil
		}
	case "ask":
		_, bad := str("topic")
		if bad != nil && !m.modern {
			return nil, bad
		}
		if !m.modern {
			l.elicit()
		}
		if m.modern {
			if bad != nil {
				return object{"resultType": "input_required", "requestState": "topic"}, nil
			}
			if res := l.asks(m); res != nil {
				return res, nil
			}
			switch l.defect {
			case "input-content/empty":
				return object{"resultType": "input_required"}, nil
			case "input-declared/elicitation":
				return object{"resultType": "input_required", "inputRequests": object{"a": object{"method": "elicitation/create", "params": object{"message": "?", "requestedSchema": schema(nil, object{})}}}}, nil
			case "input-kind/ping":
				return object{"resultType": "input_required", "inputRequests": object{"a": object{"method": "ping"}}}, nil
			}
		}
		return object{"content": []object{text("{}")}, "structuredContent": object{}}, nil
	case "picture":
		block := object{"type": "image", "data": pixel, "mimeType": "image/png"}
		switch l.defect {
		case "tool-content/base64":
			block["data"] = "not base64!"
		case "tool-content/type":
			block["type"] = "video"
		case "tool-content-mime/none":
			block["mimeType"] = "png"
		}
		return object{"content": []object{block}}, nil
	case "list_notes":
		l.mu.Lock()
		defer l.mu.Unlock()
		return object{"content": []object{text(fmt.Sprint(len(l.notes)) + l.notes["shared"])}}, nil
	case "echo":
		s, bad := str("text")
		if bad != nil {
			return nil, bad
		}
		if l.is("isolation-data/shared") {
			l.mu.Lock()
			l.notes = map[string]string{"shared": s}
			l.mu.Unlock()
		}
		res := object{"content": []object{text(`{"text": "…"}`)}, "structuredContent": object{"text": s}}
		switch l.defect {
		case "tool-output-schema/absent":
			delete(res, "structuredContent")
		case "tool-output-schema/invalid":
			res["structuredContent"] = object{"text": 7}
		case "tool-structured-text/absent":
			res["content"] = []object{}
		}
		return res, nil
	}
	return object{"content": []object{text("ok")}}, nil
}

func (l *link) readResource(m message) (object, *failure) {
	uri, _ := m.params["uri"].(string)
	content := object{"uri": uri, "text": "hello"}
	switch uri {
	case "note:///first":
		switch l.defect {
		case "resource-uri/absent":
			delete(content, "uri")
		case "resource-body/neither":
			delete(content, "text")
		}
	case "note:///logo":
		delete(content, "text")
		content["blob"] = pixel
		if l.is("resource-base64/text") {
			content["blob"] = "hello world!"
		}
	default:
		switch {
		case strings.HasPrefix(uri, "user:///"):
		case strings.HasPrefix(uri, "file:///data/") && l.is("resource-traversal/file"):
			data, err := os.ReadFile(filepath.Join("/data", strings.TrimPrefix(uri, "file:///data/")))
			if err != nil {
				return nil, fail(-32602, "no such file")
			}
			content["text"] = string(data)
		case l.is("resource-missing-empty/empty"):
			return object{"contents": []object{}}, nil
		case l.is("resource-missing/served"):
			return object{"contents": []object{content}}, nil
		case l.is("resource-missing/code"):
			return nil, fail(-32603, "internal error")
		case m.modern:
			return nil, fail(-32602, "no such resource")
		default:
			return nil, fail(-32002, "no such resource")
		}
	}
	return object{"contents": []object{content}}, nil
}

func (l *link) getPrompt(m message) (object, *failure) {
	name, _ := m.params["name"].(string)
	args, _ := m.params["arguments"].(object)
	block, role := text("hello"), "user"
	switch name {
	case "plain":
		if l.is("prompt-message/role") {
			role = "system"
		}
	case "greet":
		if args["who"] == nil && !l.is("prompt-arguments/served") {
			return nil, fail(-32602, "who is missing")
		}
	case "picture":
		block = object{"type": "image", "data": pixel, "mimeType": "image/png"}
		if l.is("prompt-content/mime") {
			block["mimeType"] = ""
		}
	default:
		if l.is("prompt-unknown/internal") {
			return nil, fail(-32603, "KeyError")
		}
		if !l.is("prompt-unknown/served") {
			return nil, fail(-32602, "no such prompt")
		}
	}
	return object{"messages": []object{{"role": role, "content": block}}}, nil
}

func (l *link) completeArgument(m message) (object, *failure) {
	ref, _ := m.params["ref"].(object)
	if name, _ := ref["name"].(string); ref["type"] == "ref/prompt" && !slices.Contains([]string{"plain", "greet", "picture"}, name) && !l.is("completion-invalid/served") {
		return nil, fail(-32602, "no such prompt")
	}
	values := []string{"Ada", "Grace"}
	if l.is("completion-limit/many") {
		values = make([]string, 101)
	}
	if l.is("completion-limit/absent") {
		return object{"completion": object{}}, nil
	}
	return object{"completion": object{"values": values}}, nil
}
