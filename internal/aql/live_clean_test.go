package aql_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"testing"

	"mcptest/internal/aql"
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

// itemsIn is what a library's file holds, without what runs created, of which
// it returns the number.
func itemsIn(t *testing.T, state string) (items map[string][]map[string]any, marked int) {
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
	for name, list := range file.Items {
		file.Items[name] = slices.DeleteFunc(list, func(item map[string]any) bool {
			text, _ := json.Marshal(item)
			ours := bytes.Contains(text, []byte(aql.Marker("")))
			if ours {
				marked++
			}
			return ours
		})
		if len(file.Items[name]) == 0 {
			delete(file.Items, name)
		}
	}
	return file.Items, marked
}
