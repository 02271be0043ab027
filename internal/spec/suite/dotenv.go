package suite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite/dotenv"
	"mcptest/internal/spec/suite/interpolate"
)

// readDotEnv reads .env next to the suite, or the given files. A missing .env is
// ignored, and so is a directory of that name (often a Python environment); a
// missing file in files is an error.
func (l *loader) readDotEnv(dir string, files []string) []Var {
	var out []Var
	if len(files) == 0 {
		name := filepath.Join(dir, ".env")
		if info, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
			return nil
		}
		return l.readEnvFile(name, "", out)
	}
	for _, name := range files {
		out = l.readEnvFile(name, "--env-file", out)
	}
	return out
}

func (l *loader) readEnvFile(name, flag string, out []Var) []Var {
	abs, err := filepath.Abs(name)
	if err != nil {
		abs = name
	}
	file, diags := source.Read(abs, l.shortenPath(abs))
	if file == nil {
		for _, d := range diags {
			d.Path = flag
			if flag != "" {
				d.Hint = "looked for " + abs
			}
			l.dec.Add(d)
		}
		return out
	}
	vars, diags := dotenv.Parse(file, interpolate.IsName)
	l.dec.Add(diags...)
	for _, v := range vars {
		if dotenv.ChangesLoading(v.Name) {
			l.dec.Add(source.Diagnostic{
				Pos: v.Pos, Code: "env-file", Msg: v.Name + " cannot be set here: it changes how programs are loaded",
				Hint: "set it in the environment, or under the env: of the server that needs it",
			})
			continue
		}
		out = append(out, v)
	}
	return out
}
