package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// judgeServerMain is a model that grades: "judgeserver PROGRAM…" serves chat completions
// on loopback, runs a program with its address in JUDGE, and exits with its exit code. Each
// request is a line of requests.jsonl. A text with the word "bad" gets the score 0.2,
// others 0.9; the text "broken" gets no grade, "down" a response of 500.
func judgeServerMain() {
	var mu sync.Mutex
	judge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if f, err := os.OpenFile("requests.jsonl", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			fmt.Fprintf(f, "%s %s\n", r.Header.Get("Authorization"), body)
			_ = f.Close()
		}
		var req struct{ Messages []struct{ Content string } }
		var text string
		if json.Unmarshal(body, &req) == nil && len(req.Messages) == 2 {
			if lines := strings.Split(req.Messages[1].Content, "\n"); len(lines) > 1 {
				_ = json.Unmarshal([]byte(lines[1]), &text)
			}
		}
		answer := map[string]any{"score": 0.9, "reason": "it is good", "quote": text}
		switch {
		case text == "down":
			w.WriteHeader(http.StatusUnauthorized)
			return
		case text == "broken":
			answer = map[string]any{"verdict": "good"}
		case strings.Contains(text, "bad"):
			answer["score"], answer["reason"] = 0.2, "it is bad"
		}
		said, _ := json.Marshal(answer)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": string(said)}}},
			"usage":   map[string]any{"prompt_tokens": 10, "completion_tokens": 5},
		})
	}))
	defer judge.Close()
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Env = append(os.Environ(), "JUDGE="+judge.URL)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if cmd.Run() != nil {
		judge.Close()
		os.Exit(max(cmd.ProcessState.ExitCode(), 1))
	}
}
