package aqlcli_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcptest/internal/client/protocol"
)

// The token of --header is not recorded if an adapter repeats it without its scheme.
func TestRecordMasksTokenOfHeader(t *testing.T) {
	t.Parallel()
	const token = "acme-opaque-credential"
	adapter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"invalid %s"}}`, protocol.MemberOf(body, "id"), sent)
	}))
	defer adapter.Close()
	file := filepath.Join(t.TempDir(), "run.cassette.ndjson")
	_, errs, code := runProgram(t, conformance(t), "live", "--url", adapter.URL, "--header", "Authorization: Bearer "+token, "--record", file, "--allow-update-in-ci")
	recorded, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("exit %d, %v\n%s", code, err, errs)
	}
	if s := string(recorded); strings.Contains(s, token) || !strings.Contains(s, "invalid [redacted]") {
		t.Error(s)
	}
}
