package aql_test

import (
	"encoding/json"
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

// itemsIn is what a library's file holds.
func itemsIn(t *testing.T, state string) (items map[string][]map[string]any) {
	t.Helper()
	data, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Items map[string][]map[string]any `json:"items"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Items
}
