package evidence

import (
	"testing"
)

func TestNames(t *testing.T) {
	for _, c := range []struct {
		s, name string
		want    bool
	}{
		{"needs 'bed_id'", "bed_id", true},
		{"bed_id", "bed_id", true},
		{"bed_ids", "bed_id", false},
		{"my_bed_id", "bed_id", false},
		{"bed_ids and bed_id", "bed_id", true},
		{"input.bed_id!", "bed_id", true},
		{"größe", "gr", false},
		{"x", "", false},
		{"id2", "id", false},
	} {
		if got := ContainsName(c.s, c.name); got != c.want {
			t.Errorf("%q names %q: %v", c.s, c.name, got)
		}
	}
}

func TestNamesInWords(t *testing.T) {
	for _, c := range []struct {
		s, name string
		want    bool
	}{
		{"Title is required", "title", true},
		{"TITLE: must not be blank", "title", true},
		{"Book ID is required", "book_id", true},
		{"bookId is required", "book_id", true},
		{"BookID is required", "book_id", true},
		{"book-id is required", "book_id", true},
		{"input.book_id is required", "bookId", true},
		{"the --book-id option is missing", "book_id", true},
		{"Element type missing.", "element_type", true},
		{"start – date missing", "start_date", true},
		{"größe fehlt", "Größe", true},
		{"The bed_ids are missing.", "bed_id", false},
		{"my_bed_id is missing", "bed_id", false},
		{"Subtitle is required", "title", false},
		{"not able to read", "no_table", false},
		{"Book is required", "book_id", false},
		{"Something is missing.", "title", false},
		{"", "title", false},
		{"Title", "", false},
		{"- is missing", "_", false},
	} {
		if got := ContainsNameInWords(c.s, c.name); got != c.want {
			t.Errorf("%q names %q: %v", c.s, c.name, got)
		}
	}
}
