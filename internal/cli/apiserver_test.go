package cli_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// apiServerMain is an API and an MCP server that uses it. "apiserver mcp" serves a tool
// over stdio that sends requests to API_URL, "apiserver mcp later" also tools that send them
// after the response, or as raw bytes. "apiserver with PROGRAM…" serves the API on
// loopback, runs a program with its address in API, and exits with the program's exit code.
func apiServerMain() {
	if os.Args[1] == "mcp" {
		s := sdk.NewServer(&sdk.Implementation{Name: "api", Version: "1"}, nil)
		sdk.AddTool(s, &sdk.Tool{Name: "send"}, sendTool)
		if len(os.Args) > 2 {
			sdk.AddTool(s, &sdk.Tool{Name: "later"}, laterTool)
			sdk.AddTool(s, &sdk.Tool{Name: "raw"}, rawTool)
		}
		for tool, path := range map[string]string{"whoami": "/user", "count": "/count?page=1", "news": "/news"} {
			sdk.AddTool(s, &sdk.Tool{Name: tool, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}, func(ctx context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
				return sendTool(ctx, r, sendArgs{Method: http.MethodGet, URL: path})
			})
		}
		_ = s.Run(context.Background(), &sdk.StdioTransport{})
		return
	}
	api := httptest.NewServer(fakeAPI())
	defer api.Close()
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Env = append(os.Environ(), "API="+api.URL)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if cmd.Run() != nil {
		api.Close()
		os.Exit(max(cmd.ProcessState.ExitCode(), 1))
	}
}

type sendArgs struct {
	Method string `json:"method"`
	URL    string `json:"url"`
	Name   string `json:"name,omitempty"`
}

func sendTool(ctx context.Context, _ *sdk.CallToolRequest, a sendArgs) (*sdk.CallToolResult, any, error) {
	var body io.Reader
	if a.Name != "" {
		data, _ := json.Marshal(map[string]string{"name": a.Name})
		body = bytes.NewReader(data)
	}
	base := os.Getenv("API_URL")
	if len(a.URL) > 0 && a.URL[0] != '/' {
		base = ""
	}
	req, err := http.NewRequestWithContext(ctx, a.Method, base+a.URL, body)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+os.Getenv("API_TOKEN"))
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf("%d %s", res.StatusCode, text)}}}, nil, err
}

type laterArgs struct {
	URL     string `json:"url,omitempty"`
	DelayMS int    `json:"delay_ms,omitempty"`
	SleepMS int    `json:"sleep_ms,omitempty"`
}

// laterTool responds, and sends a request after a delay.
func laterTool(_ context.Context, _ *sdk.CallToolRequest, a laterArgs) (*sdk.CallToolResult, any, error) {
	if a.URL != "" {
		time.AfterFunc(time.Duration(a.DelayMS)*time.Millisecond, func() {
			_, _, _ = sendTool(context.Background(), nil, sendArgs{Method: http.MethodGet, URL: a.URL})
		})
	}
	time.Sleep(time.Duration(a.SleepMS) * time.Millisecond)
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "ok"}}}, nil, nil
}

type rawArgs struct {
	Text string `json:"text"`
	Size int    `json:"size,omitempty"` // of a body
	// LeaveMS is the time for which the connection stays open without a response.
	LeaveMS int `json:"leave_ms,omitempty"`
}

// rawTool sends bytes to the address of the API, or to the proxy, and returns the first line
// of the response.
func rawTool(_ context.Context, _ *sdk.CallToolRequest, a rawArgs) (*sdk.CallToolResult, any, error) {
	u, err := url.Parse(cmp.Or(os.Getenv("API_URL"), os.Getenv("HTTP_PROXY")))
	if err != nil {
		return nil, nil, err
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		return nil, nil, err
	}
	_, _ = io.WriteString(conn, a.Text+strings.Repeat("x", a.Size))
	if a.LeaveMS > 0 {
		time.Sleep(time.Duration(a.LeaveMS) * time.Millisecond)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "left"}}}, nil, nil
	}
	defer conn.Close()
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil && a.Size > 0 { // the connection may be reset
		line, err = err.Error(), nil
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: line}}}, nil, err
}

// fakeAPI has a user who can be renamed, a counter, and a redirection.
func fakeAPI() http.Handler {
	var mu sync.Mutex
	user, n := "ada", 0
	mux := http.NewServeMux()
	mux.HandleFunc("GET /user", func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		w.Header().Set("Set-Cookie", "sid=Kq81zRt55PlMx2")
		fmt.Fprintf(w, `{"name":%q,"token":"Vx72kLq09ZtRb4"}`, user)
	})
	mux.HandleFunc("PUT /user", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var in struct{ Name string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		user = in.Name
		w.WriteHeader(http.StatusCreated)
	})
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		n++
		fmt.Fprintf(w, `{"n":%d}`, n)
	})
	mux.HandleFunc("GET /moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+r.Host+"/count", http.StatusFound)
	})
	return mux
}
