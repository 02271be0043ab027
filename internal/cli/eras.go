package cli

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"

	"mcptest/internal/connect"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/suite"
)

const (
	erasSchema = "mcptest.eras/v1"
	erasFile   = "eras.json"
	// maxEras is how many servers are remembered; with more, all are forgotten.
	maxEras = 1_000
)

// eras is what the file beside the suites of a folder holds: which servers did
// not answer server/discover before initialize was sent, and of which era they
// were found to be.
type eras struct {
	Schema  string            `json:"schema"`
	Servers map[string]string `json:"servers"` // by run's key of a server
}

// erasDir is the folder in whose state the hints of a run are kept: that of the
// first suite; "" when it was not read from a file.
func erasDir(suites []*suite.Suite) string {
	if len(suites) == 0 || suites[0].File == nil {
		return ""
	}
	return filepath.Dir(suites[0].File.Path)
}

// readEras reads the hints of a folder; none when the file is missing or of
// another form: it is only a memory.
func readEras(dir string) *connect.Eras {
	hints := map[string]protocol.Era{}
	var have eras
	data, err := os.ReadFile(filepath.Join(dir, hereDir, erasFile))
	if err == nil && json.Unmarshal(data, &have) == nil && have.Schema == erasSchema {
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

// keepEras writes the hints where they have changed. In CI nobody would read
// them.
func keepEras(s Streams, dir string, known *connect.Eras, log *slog.Logger) {
	hints, changed := known.Hints()
	if !changed || dir == "" || inCI(s.Env) {
		return
	}
	st := eras{Schema: erasSchema, Servers: map[string]string{}}
	for key, era := range hints {
		if len(hints) <= maxEras {
			st.Servers[key] = era.String()
		}
	}
	if err := writeState(dir, erasFile, st); err != nil && log != nil {
		log.Debug("the detected protocols of the servers were not cached", "error", err)
	}
}
