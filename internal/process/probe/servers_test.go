package probe_test

import (
	"testing"

	"mcptest/internal/process/probe"
)

func TestAtServers(t *testing.T) {
	t.Parallel()
	const server = "http://localhost:80/mcp"
	for address, want := range map[string]bool{
		"http://localhost/mcp":          true,
		"http://LOCALHOST:80/mcp?a=b#c": true,
		"https://localhost/mcp":         false,
		"http://localhost:81/mcp":       false,
		"http://localhost/mcp/":         false,
		"http://localhost/health":       false,
		"http://127.0.0.1/mcp":          false,
		"tcp://localhost:80":            false,
	} {
		p, err := probe.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.AtServers("", "http://other/", server).OfServer(); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	p, err := probe.Parse("https://a")
	if err != nil || !p.AtServers("https://a:443/").OfServer() {
		t.Error("the path / and none differ", err)
	}
}
