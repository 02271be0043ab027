package history

import (
	"maps"
	"slices"

	"mcptest/internal/client/protocol"
	"mcptest/internal/run/connect"
)

const (
	erasSchema = "mcptest.eras/v1"
	erasFile   = "eras.json"
	// maxEras is how many servers are remembered; with more, all are forgotten.
	maxEras = 1_000
)

// eras is the content of eras.json: the servers that did not answer
// server/discover before initialize was sent with their detected eras, and those that
// did not end when their input was closed.
type eras struct {
	Schema     string            `json:"schema"`
	Servers    map[string]string `json:"servers"` // by connect's key of a server
	IgnoresEOF []string          `json:"ignores_eof,omitempty"`
}

// LoadEras reads the detected eras of servers from the folder in dir.
func LoadEras(dir string) *connect.Eras {
	hints := map[string]connect.Hint{}
	var have eras
	if read(dir, erasFile, &have) && have.Schema == erasSchema {
		for key, name := range have.Servers {
			for _, era := range []protocol.Era{protocol.EraSession, protocol.EraStateless} {
				if era.String() == name {
					hints[key] = connect.Hint{Era: era}
				}
			}
		}
		for _, key := range have.IgnoresEOF {
			hints[key] = connect.Hint{Era: hints[key].Era, IgnoresEOF: true}
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
	for _, key := range slices.Sorted(maps.Keys(hints)) {
		if len(hints) > maxEras {
			break
		}
		if era := hints[key].Era; era != protocol.EraUnknown {
			st.Servers[key] = era.String()
		}
		if hints[key].IgnoresEOF {
			st.IgnoresEOF = append(st.IgnoresEOF, key)
		}
	}
	return write(dir, erasFile, st)
}
