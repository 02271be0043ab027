package aqlcli

import (
	"encoding/json"
	"os"
	"path/filepath"

	"mcptest/internal/base/osfile"
	"mcptest/internal/model"
)

// verdictCache is a folder with one file per verdict. A verdict that cannot be read
// or written is judged again.
type verdictCache string

func (d verdictCache) locate(key string) string { return filepath.Join(string(d), key+".json") }

// Get reads a verdict.
func (d verdictCache) Get(key string) (model.Verdict, bool) {
	var v model.Verdict
	data, err := os.ReadFile(d.locate(key))
	return v, err == nil && json.Unmarshal(data, &v) == nil && v.Valid()
}

// Put writes a verdict.
func (d verdictCache) Put(key string, v model.Verdict) {
	data, err := json.Marshal(v)
	if err != nil || os.MkdirAll(string(d), 0o700) != nil {
		return
	}
	_ = osfile.Replace(d.locate(key), data, 0o644)
}
