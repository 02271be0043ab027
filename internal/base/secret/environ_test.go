package secret_test

import (
	"path/filepath"
	"slices"
	"testing"

	"mcptest/internal/base/secret"
)

func TestInEnviron(t *testing.T) {
	dir := t.TempDir()
	got := secret.FindInEnviron([]string{
		"API_TOKEN=Zx9-canary-77q", "HOME=" + dir, "SSH_AUTH_SOCK=" + filepath.Join(dir, "gone", "agent.123x"),
		"DB_PASSWORD=postgres", "SECRET_KEY=/JalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLE", "=C:=odd", "TOKEN",
	})
	want := []string{"Zx9-canary-77q", "/JalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLE"}
	if !slices.Equal(got, want) {
		t.Errorf("secrets %q, want %q", got, want)
	}
}
