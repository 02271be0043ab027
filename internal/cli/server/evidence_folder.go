package server

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/offer/opening"
	"mcptest/internal/offer/ruleset"
)

// write writes the folder.
func (f *evidenceFlags) write(l *option.Viewer, e *evidence) error {
	if err := os.MkdirAll(f.output, 0o700); err != nil {
		return err
	}
	rules, err := ruleset.Builtin()
	if err != nil {
		return err
	}
	var probed bytes.Buffer
	document := e.probe.Document(rules, ruleset.Must, term.Palette{}, cmdutil.Version())
	if err := document.Write(&probed, "json"); err != nil {
		return err
	}
	var failed error
	put := func(name, text string) {
		failed = errors.Join(failed, os.WriteFile(filepath.Join(f.output, name), []byte(text), 0o600))
	}
	if v, err := jsonv.Parse(probed.Bytes()); err == nil {
		put("probe.json", l.JSONText("", v)+"\n")
	}
	put("doctor.json", l.JSONText("", formatDiagnosis(e.target, e.doctor))+"\n")
	put("openings.json", l.JSONText("", formatOpenings(e.openings.Verdicts))+"\n")
	failed = errors.Join(failed, f.writeExchange(l, e))
	put("evidence.md", e.makePage(l))
	return failed
}

func formatOpenings(all []opening.Verdict) jsonv.Value {
	return jsonv.List(all, func(v opening.Verdict) jsonv.Value {
		s := v.Script
		return jsonv.ObjectOf(
			"client", s.Client, "transport", s.Transport, "script", s.Name,
			"connected", v.Connected, "revision", v.Revision, "reason", v.Reason, "says", v.Says,
			"not_judged", v.Unjudged, "source", s.Source, "seen", s.Seen,
		)
	})
}
