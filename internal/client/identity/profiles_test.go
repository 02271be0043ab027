package identity_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/identity"
)

// Every profile can be sent, and says where it is from.
func TestProfiles(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range identity.All() {
		if seen[p.Name] {
			t.Errorf("%s is there twice", p.Name)
		}
		seen[p.Name] = true
		capabilities, err := jsonv.Parse([]byte(p.Capabilities))
		if err != nil || capabilities.Kind() != jsonv.KindObject {
			t.Errorf("%s: capabilities %s: %v", p.Name, p.Capabilities, err)
		}
		for name, c := range capabilities.Members() {
			if c.Kind() != jsonv.KindObject {
				t.Errorf("%s: %s is %s", p.Name, name, c.Kind())
			}
		}
		if p.ClientName == "" || p.ClientVersion == "" || p.Source == "" {
			t.Errorf("%s lacks a name, a version or a source: %+v", p.Name, p)
		}
		if _, err := time.Parse(time.DateOnly, p.Seen); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if found, ok := identity.Named(p.Name); !ok || found != p {
			t.Errorf("%s is not found", p.Name)
		}
	}
	if len(seen) < 10 {
		t.Errorf("%d profiles", len(seen))
	}
	if _, ok := identity.Named(""); ok {
		t.Error("a profile has no name")
	}
}

// The table of the guide has the profiles as they are.
func TestGuideHasTheProfiles(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../../docs/guides/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(string(guide), "\n")
	for _, p := range identity.All() {
		start := "| `" + p.Name + "` | `" + p.ClientName + "` " + p.ClientVersion
		end := "| " + p.Seen + "; " + p.Source + " |"
		found := false
		for _, row := range rows {
			found = found || strings.HasPrefix(row, start) && strings.HasSuffix(row, end)
		}
		if !found {
			t.Errorf("no row begins with %q and ends with %q", start, end)
		}
	}
}
