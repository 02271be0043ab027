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
		if got := Names(c.s, c.name); got != c.want {
			t.Errorf("%q names %q: %v", c.s, c.name, got)
		}
	}
}
