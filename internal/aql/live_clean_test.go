package aql_test

import (
	"os"
	"regexp"
	"testing"
)

var markedName = regexp.MustCompile(`"(id|name|title)":"[^"]*zz_conf_[^"]*"`)

// markedIn lists the marked names in a library's file.
func markedIn(t *testing.T, state string) []string {
	t.Helper()
	data, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	return markedName.FindAllString(string(data), -1)
}
