package history

import (
	"mcptest/internal/connect"
	"mcptest/internal/mcp/protocol"
)

const (
	erasSchema = "mcptest.eras/v1"
	erasFile   = "eras.json"
	// maxEras is how many servers are remembered; with more, all are forgotten.
	maxEras = 1_000
)

// eras is the content of eras.json: the servers that did not answer
// server/discover before initialize was sent, and their detected eras.
type eras struct {
	Schema  string            `json:"schema"`
	Servers map[string]string `json:"servers"` // by connect's key of a server
}

// Eras reads the detected eras of servers from the folder in dir.
func Eras(dir string) *connect.Eras {
	hints := map[string]protocol.Era{}
	var have eras
	if read(dir, erasFile, &have) && have.Schema == erasSchema {
		for key, name := range have.Servers {
			for _, era := range []protocol.Era{protocol.EraSession, protocol.EraStateless} {
				if era.String() == name {
					hints[key] = era
				}
			}
		}
	}
	return connect.NewEras(hints)
}

// KeepEras stores them if they have changed.
func KeepEras(dir string, known *connect.Eras) error {
	hints, changed := known.Hints()
	if !changed || dir == "" {
		return nil
	}
	st := eras{Schema: erasSchema, Servers: map[string]string{}}
	for key, era := range hints {
		if len(hints) <= maxEras {
			st.Servers[key] = era.String()
		}
	}
	return write(dir, erasFile, st)
}
