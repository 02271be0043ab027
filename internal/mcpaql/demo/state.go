package demo

import (
	"encoding/json"
	"fmt"
	"os"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/osfile"
)

// state is the content of Options.State.
type state struct {
	Next  int                      `json:"next"`
	Items map[string][]jsonv.Value `json:"items"`
}

func (a *Adapter) load() error {
	if a.o.State == "" {
		return nil
	}
	data, err := os.ReadFile(a.o.State)
	if os.IsNotExist(err) {
		return a.save()
	}
	if err != nil {
		return fmt.Errorf("read the library: %w", err)
	}
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("read the library %s: %w", a.o.State, err)
	}
	a.next, a.items = s.Next, s.Items
	return nil
}

// save stores the library. The file is replaced as a whole, so that a kill leaves the
// old or the new one.
func (a *Adapter) save() error {
	if a.o.State == "" {
		return nil
	}
	data, err := json.Marshal(state{a.next, a.items})
	if err == nil {
		err = osfile.Replace(a.o.State, data, 0o666)
	}
	if err != nil {
		return fmt.Errorf("keep the library: %w", err)
	}
	return nil
}

// saveAnswer stores the library after a change, and returns the answer to the call.
func (a *Adapter) saveAnswer(answer jsonv.Value) (jsonv.Value, *failure) {
	if a.save() != nil {
		return jsonv.Value{}, refuse("INTERNAL_ERROR", "The library could not be kept.")
	}
	return answer, nil
}
