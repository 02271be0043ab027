package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
)

// fakeModelMain runs `fakemodel PROGRAM…` with the address of a fake endpoint in MODEL_URL:
// /v1/chat/completions and /v1/messages. It is strict about requests, and does what the
// prompt says: CALL TOOL [{…}] ; PICK text in a description ; SAY text ; VARY a | b | c ; STATUS n ;
// BUSY n ; REFUSE ; CUT ; HTML ; BOTH. VARY says the next of its texts each time. A model called picky-1
// refuses max_tokens and temperature. The bodies of all requests are written to the file REQUESTS.
func fakeModelMain() {
	f := &fakeModel{}
	s := httptest.NewServer(f)
	defer s.Close()
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Env = append(os.Environ(), "MODEL_URL="+s.URL+"/v1")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	_ = cmd.Run()
	_ = os.WriteFile("requests", []byte(strings.Join(f.bodies, "\n")), 0o666)
	os.Exit(cmd.ProcessState.ExitCode())
}

type fakeModel struct {
	mu     sync.Mutex
	bodies []string
	failed map[string]bool
	varied map[string]int
}

// statusesMain prints the statuses of the attempts of the tests in a record.
func statusesMain() {
	data, _ := os.ReadFile(os.Args[1])
	var record struct {
		Tests []struct {
			Name     string
			Attempts []struct{ Status string }
		}
	}
	if err := json.Unmarshal(data, &record); err != nil || len(record.Tests) == 0 {
		fmt.Fprintln(os.Stderr, "no record", err)
		os.Exit(1)
	}
	for _, c := range record.Tests {
		fmt.Println(c.Name, c.Attempts)
	}
}

// strictly returns what is wrong with the members of a request.
func strictly(m map[string]any, required string, optional ...string) string {
	for _, key := range strings.Fields(required) {
		if _, ok := m[key]; !ok {
			return "missing " + key
		}
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(append(strings.Fields(required), optional...), key) {
			return "unknown member " + key
		}
	}
	return ""
}

func (f *fakeModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	f.bodies = append(f.bodies, string(data))
	f.mu.Unlock()
	var body map[string]any
	_ = json.Unmarshal(data, &body)
	anthropic := strings.HasSuffix(r.URL.Path, "/messages")
	key, wrong := r.Header.Get("Authorization"), ""
	if anthropic {
		key = "Bearer " + r.Header.Get("X-Api-Key")
		wrong = strictly(body, "model messages max_tokens", "system", "tools", "temperature")
	} else {
		wrong = strictly(body, "model messages", "tools", "temperature", "seed", "max_tokens", "max_completion_tokens", "stream")
		for _, name := range []string{"max_tokens", "temperature"} {
			if _, sent := body[name]; sent && body["model"] == "picky-1" {
				wrong = "unsupported parameter: " + name
			}
		}
	}
	if wrong == "" { // what follows needs the form
		wrong = conversationOf(body, anthropic)
	}
	switch {
	case key != "Bearer secret-key-1":
		http.Error(w, `{"error": {"message": "wrong key"}}`, http.StatusUnauthorized)
		return
	case wrong != "":
		http.Error(w, `{"error": {"message": "strict: `+wrong+`"}}`, http.StatusBadRequest)
		return
	}
	w.Header().Set("X-Request-Id", fmt.Sprint(len(data)))
	f.answer(w, body, anthropic)
}

// conversationOf checks the roles, the ids of calls and the tools.
func conversationOf(body map[string]any, anthropic bool) string {
	open := map[string]bool{}
	for i, item := range body["messages"].([]any) {
		m := item.(map[string]any)
		if anthropic {
			if want := []string{"user", "assistant"}[i%2]; m["role"] != want {
				return "messages do not alternate"
			}
			for _, b := range m["content"].([]any) {
				switch block := b.(map[string]any); block["type"] {
				case "text":
					if block["text"] == "" {
						return "empty text block"
					}
				case "tool_use":
					open[block["id"].(string)] = true
				case "tool_result":
					if id := block["tool_use_id"].(string); !open[id] {
						return "result without a call"
					} else {
						delete(open, id)
					}
				}
			}
			if m["role"] == "user" && len(open) > 0 {
				return "a call without a result"
			}
			continue
		}
		switch m["role"] {
		case "system":
			if m["content"] == "" || i > 0 {
				return "empty or late system message"
			}
		case "assistant":
			calls, _ := m["tool_calls"].([]any)
			for _, c := range calls {
				open[c.(map[string]any)["id"].(string)] = true
			}
		case "tool":
			if id, _ := m["tool_call_id"].(string); !open[id] {
				return "result without a call"
			} else {
				delete(open, id)
			}
		case "user":
			if len(open) > 0 {
				return "a call without a result"
			}
		default:
			return "unknown role"
		}
	}
	if s, ok := body["system"]; ok && s == "" {
		return "empty system"
	}
	tools, _ := body["tools"].([]any)
	seen := map[any]bool{}
	for _, item := range tools {
		t := item.(map[string]any)
		if f, ok := t["function"].(map[string]any); ok {
			t = map[string]any{"name": f["name"], "input_schema": f["parameters"]}
		}
		if schema := t["input_schema"].(map[string]any); schema["type"] != "object" || len(t["name"].(string)) > 64 || strings.Trim(t["name"].(string), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
			return fmt.Sprintf("bad tool %v", t["name"])
		}
		if seen[t["name"]] {
			return fmt.Sprintf("the tool %v twice", t["name"])
		}
		seen[t["name"]] = true
	}
	return ""
}

// answer does what the next part of the prompt says.
func (f *fakeModel) answer(w http.ResponseWriter, body map[string]any, anthropic bool) {
	messages := body["messages"].([]any)
	prompt, turn := "", 0
	for _, item := range messages {
		m := item.(map[string]any)
		if m["role"] == "assistant" {
			turn++
		}
		if m["role"] == "user" && prompt == "" {
			if text, ok := m["content"].(string); ok {
				prompt = text
			} else {
				prompt = m["content"].([]any)[0].(map[string]any)["text"].(string)
			}
		}
	}
	parts := strings.Split(prompt, " ; ")
	part := parts[min(turn, len(parts)-1)]
	word, rest, _ := strings.Cut(part, " ")
	stop, text, calls := "stop", "", [][2]string(nil)
	switch word {
	case "CALL", "BOTH":
		for _, c := range strings.Split(rest, " & ") {
			name, args, _ := strings.Cut(c, " ")
			calls = append(calls, [2]string{name, args})
		}
		stop = "tool_calls"
	case "PICK":
		text = "no tool fits"
		for _, item := range body["tools"].([]any) {
			t := item.(map[string]any)
			if f, ok := t["function"].(map[string]any); ok {
				t = f
			}
			if strings.Contains(t["description"].(string), rest) {
				calls, text, stop = [][2]string{{t["name"].(string), "{}"}}, "", "tool_calls"
				break
			}
		}
	case "SAY":
		text = rest
	case "VARY":
		texts := strings.Split(rest, " | ")
		f.mu.Lock()
		if f.varied == nil {
			f.varied = map[string]int{}
		}
		text = texts[f.varied[part]%len(texts)]
		f.varied[part]++
		f.mu.Unlock()
	case "REFUSE":
		stop, text = "content_filter", "I will not"
	case "CUT":
		stop, text = "length", "It is"
	case "HTML":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>gateway</html>")
		return
	case "BUSY":
		w.Header().Set("Retry-After", "0.01")
		http.Error(w, `{"error": {"message": "busy secret-key-1"}}`, map[string]int{"429": 429, "529": 529}[rest])
		return
	case "STATUS":
		status := 0
		_, _ = fmt.Sscan(rest, &status)
		f.mu.Lock()
		part += fmt.Sprint(" ", anthropic)
		again := f.failed[part]
		if f.failed == nil {
			f.failed = map[string]bool{}
		}
		f.failed[part] = true
		f.mu.Unlock()
		if !again || status < 429 {
			w.Header().Set("Retry-After", "0.01")
			http.Error(w, `{"error": {"message": "busy secret-key-1"}}`, status)
			return
		}
		text = "recovered"
	}
	if anthropic {
		content := []any{}
		if text != "" {
			content = append(content, map[string]any{"type": "text", "text": text})
		}
		for i, c := range calls {
			content = append(content, map[string]any{"type": "tool_use", "id": fmt.Sprintf("t%d_%d", turn, i), "name": c[0], "input": json.RawMessage(c[1])})
		}
		reason := map[string]string{"stop": "end_turn", "tool_calls": "tool_use", "content_filter": "refusal", "length": "max_tokens"}[stop]
		_ = json.NewEncoder(w).Encode(map[string]any{"model": "large-1", "content": content, "stop_reason": reason, "usage": usageIn(prompt, "input_tokens", "output_tokens")})
		return
	}
	m := map[string]any{"role": "assistant", "content": text}
	var list []any
	for i, c := range calls {
		list = append(list, map[string]any{"id": fmt.Sprintf("t%d_%d", turn, i), "type": "function", "function": map[string]any{"name": c[0], "arguments": c[1]}})
	}
	if list != nil {
		m["tool_calls"] = list
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"model": "small-1-2026", "choices": []any{map[string]any{"message": m, "finish_reason": stop}}, "usage": usageIn(prompt, "prompt_tokens", "completion_tokens")})
}

// usageIn returns the tokens that an answer is said to use; "(USAGE …)" in the prompt replaces them.
func usageIn(prompt, input, output string) any {
	_, said, given := strings.Cut(prompt, "(USAGE ")
	if !given {
		return map[string]int{input: 100, output: 10}
	}
	said, _, _ = strings.Cut(said, ")")
	if said == "none" {
		return nil
	}
	in, out, _ := strings.Cut(said, " ")
	return map[string]json.RawMessage{input: json.RawMessage(in), output: json.RawMessage(out)}
}
