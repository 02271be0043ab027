package secret_test

import (
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/secret"
)

func TestMatches(t *testing.T) {
	const m = secret.Mask
	for _, row := range []struct {
		masked, text string
		want         bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{m, "", false},
		{"Bearer " + m, "Bearer ", false},
		{"a" + m + "b" + m + "c", "abc", false},
		{m + m, "x", false},
		{m + m, "xy", true},
		{"Bearer " + m, "Bearer x y", true},
		{"Bearer " + m, "Basic x", false},
		{"a" + m + "b" + m + "c", "a1b2c", true},
		{"a" + m + "b" + m + "c", "a12c", false},
		{"ab" + m + "ba", "aba", false}, // the parts must not overlap
		{"a" + m + "b", "a" + m + "b", true},
		{"ab", m, false},
	} {
		if got := secret.Matches(row.masked, row.text); got != row.want {
			t.Errorf("Matches(%q, %q) = %v", row.masked, row.text, got)
		}
	}
}

func TestMatcher(t *testing.T) {
	const m = secret.Mask
	r := secret.NewRedactor()
	r.Add("first-secret-1", "dummy")
	for _, row := range []struct {
		masked, text string
		want         bool
	}{
		{"/v1/" + m + "/x", "/v1/first-secret-1/x", true},
		{"/v1/" + m + "/x", "/v1/" + m + "/x", true},
		{"/v1/bot" + m + "/x", "/v1/botdummy/x", true},
		{"/v1/bot" + m + "/x", "/v1/bothers/x", false},
		{"/v1/bot" + m + "/x", "/v1/botUnknown-12345/x", false},
		{"/v1/" + m + "/x", "/v1/unknown-12345/x", true},
		{"/v1/" + m + "/x", "/v1/unknown-12345/y", false},
		{"/v1/" + m + "/x", "/v1/users/x", false},
		{"/v1/" + m + "/x", "/v1/unknown-12345/more/x", false},
		{"/v1/" + m, "/v1/", false},
		{"/" + m, "/unknown-12345", false},
		{"/" + m, "/first-secret-1", true},
		{"/" + m, "/delete-everything/now", false},
		{"/" + m + "/" + m, "/first-secret-1/dummy", true},
		{"/v1/" + m + "/" + m, "/v1/unknown-12345/unknown-12345", true},
		{"/v1/" + m + "/" + m, "/v1/unknown-12345/unknown-67890", false},
		{"q=" + m, "q=unknown-12345", true},
		{"q=" + m, "q=all", false},
		{"q=a " + m, "q=a unknown-12345", false},
		{`json {"a":"` + m + `","b":"x ` + m + `"}`, `json {"a":"unknown-12345","b":"x dummy"}`, true},
		{`json {"a":"` + m + `","b":"x"}`, `json {"a":"unknown-12345","c":"y","b":"x"}`, false},
		{m, "unknown-12345", true},
		{m, "delete", false},
	} {
		if got := r.Matcher().Matches(row.masked, row.text); got != row.want {
			t.Errorf("Matches(%q, %q) = %v", row.masked, row.text, got)
		}
	}
}

// TestManyMasks: a text with many masks next to each other is given up soon.
func TestManyMasks(t *testing.T) {
	r := secret.NewRedactor()
	masked := strings.Repeat(secret.Mask, 40) + "!"
	began := time.Now()
	if r.Matcher().Matches(masked, strings.Repeat(secret.Mask, 39)+"x"+secret.Mask) {
		t.Error("another text matches")
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}
