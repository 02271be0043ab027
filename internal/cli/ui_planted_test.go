package cli_test

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
)

// No secret that a suite names reaches the page: in the state, the tests, what a run says
// about them, its record, the sessions by hand, their messages, and a test to be kept.
func TestUIPlantedSecrets(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the programs are shell scripts")
	}
	var p planted
	suite := p.fill(plantedSuite)
	env := p.fill("PLANTED_VARIABLE=S3CRET\nPLANTED_BEARER=S3CRET\nPLANTED_HEADER=S3CRET\n")
	e := exploreFiles(t, map[string]string{"mcptest.yaml": suite, ".env": env, "rows.csv": p.fill("user,password,api_token\nada,S3CRET,S3CRET\n")})
	secret := p.values[0] // of a variable, as one whole argument
	see := func(path, body string) jsonv.Value {
		t.Helper()
		v := e.post(path, body)
		p.hidden(t, path+" "+body[:min(len(body), 80)], []byte(v.String()))
		return v
	}
	version := see("tests", "{}").Lookup("version").Text()
	ask := see("tests-run", `{"version":"`+version+`","all":true}`)
	see("tests-run", `{"version":"`+version+`","all":true,"confirm":"`+ask.Lookup("confirm").Text()+`"}`)
	var run jsonv.Value
	e.await("the end of the run", func(state jsonv.Value) bool {
		run = state.Lookup("run")
		return !run.Lookup("going").Bool()
	})
	p.hidden(t, "the run", []byte(run.String()))
	ended := see("outcomes", `{"run":1,"after":0}`).Lookup("outcomes")
	for _, o := range ended.Elems() {
		see("test", `{"run":1,"test":`+o.Lookup("test").Literal()+`}`)
	}
	if ended.Len() < 10 {
		t.Errorf("only %d tests ended: %s", ended.Len(), run)
	}
	see("history", "{}")

	// The servers by hand; those that do not start say why.
	servers := see("state", "{}").Lookup("servers")
	for i := range servers.Len() {
		e.post("connect", fmt.Sprintf(`{"server":%d,"protocol":"auto"}`, i))
	}
	e.await("the servers", func(state jsonv.Value) bool {
		for _, s := range state.Lookup("servers").Elems() {
			if status := s.Lookup("status").Text(); status == "connecting" || status == "connected" && !s.Lookup("listed").Bool() {
				return false
			}
		}
		return true
	})
	state := see("state", "{}")
	offers := state.Lookup("servers").At(0).Lookup("offers").Literal()
	call := `"server":0,"version":` + offers + `,"list":"tool","item":0,"arguments":{"message":"` + secret + `"}`
	made := see("call", "{"+call+"}")
	if token := made.Lookup("confirm").Text(); token != "" {
		made = see("call", "{"+call+`,"confirm":"`+token+`"}`)
	}
	id := made.Lookup("call").String()
	e.ended(id)
	if got := see("result", `{"call":`+id+`}`); !strings.Contains(got.String(), "[redacted]") {
		t.Errorf("the echo of a secret: %s", got)
	}
	see("draft", `{"call":`+id+`,"file":0,"name":"","leave":[]}`)
	for seq := 1; ; seq++ {
		status, text := e.send("/api/frame", `{"seq":`+strconv.Itoa(seq)+`,"from":0}`, nil)
		p.hidden(t, "frame "+strconv.Itoa(seq), []byte(text))
		if status != 200 {
			break
		}
	}
	p.hidden(t, "standard error", []byte(e.read("stderr")))
	if len(p.values) < 50 {
		t.Errorf("only %d secrets", len(p.values))
	}
}
