package aql_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/verdict"
)

// rehearsing is a store whose create takes dry_run, with some more members of its
// description: {required, default}. honors says that it then stores nothing.
func rehearsing(more string, preset, honors bool) *store {
	b := newStore(3)
	b.params = map[string]string{
		"create_note": `[` + oneTitle + `,{"name":"dry_run","type":"boolean",` + more + `"description":"Only checks, and stores nothing."}]`,
	}
	b.create = func(params, note jsonv.Value) (string, bool) {
		dry := preset
		if v, has := params.Get("dry_run"); has {
			dry = v.Bool()
		}
		if dry && honors {
			return note.Without("note_id").With("checked", jsonv.Bool(true)).String(), false
		}
		return note.String(), true
	}
	return b
}

// A create that can be rehearsed is not accused of storing nothing when it is asked to, in no
// mode, and whether it does so by default; a value of the user is sent.
func TestRehearsedCreates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		more   string
		preset bool
		honors bool
	}{
		"by default not":            {`"required":false,"default":false,`, false, true},
		"by default":                {`"required":false,"default":true,`, true, true},
		"without a default":         {`"required":false,`, false, true},
		"always asked":              {`"required":true,`, false, true},
		"accepted without effect":   {`"required":false,"default":false,`, false, false},
		"accepted, default ignored": {`"required":false,"default":true,`, false, false},
	} {
		for _, values := range []string{"", `{"create_note":{"dry_run":true}}`, `{"create_note":{"dry_run":false}}`} {
			for _, mode := range []string{guard.ModePlan, guard.ModeSafe, guard.ModeWrite, guard.ModeFull} {
				defaulted := strings.HasPrefix(name, "by default") || name == "always asked"
				if mode != guard.ModeWrite && (values != "" || !c.preset) || values != "" && !defaulted {
					continue // 15 runs show it
				}
				t.Run(name+" "+mode+" "+values, func(t *testing.T) {
					t.Parallel()
					checkRehearsal(t, rehearsing(c.more, c.preset, c.honors), mode, values)
				})
			}
		}
	}
}

func checkRehearsal(t *testing.T, b *store, mode, values string) {
	t.Helper()
	s, sent := b.adapter(), map[bool]bool{}
	s.hears = func(args jsonv.Value) {
		v := args.Lookup("params", "dry_run")
		if args.Lookup("operation").Text() == "create_note" && v.Kind() == jsonv.KindBool {
			sent[v.Bool()] = true
		}
	}
	args := []string{"--mode", mode, "--level", "1"}
	if values != "" {
		file := filepath.Join(t.TempDir(), "values.json")
		if err := os.WriteFile(file, []byte(values), 0o666); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--values", file)
	}
	out, errs, code := commandLine(t, s)(args...)
	if code == verdict.ExitFailed || strings.Contains(out, "FAIL") || strings.Contains(out, "- WARN") {
		t.Errorf("exit code %d\n%s\n%s", code, out, errs)
	}
	if others, own := b.whole(); others != 3 || own != 0 {
		t.Errorf("%d notes of others are whole, %d of the run are left", others, own)
	}
	writes := mode == guard.ModeWrite || mode == guard.ModeFull
	said := strings.Contains(errs, "the value of --values was not sent: with it the create stores nothing")
	if writes && values != "" && !sent[strings.Contains(values, "true")] && !said {
		t.Errorf("the value %s was not sent:\n%s", values, errs)
	}
	if strings.Contains(out, "the created item does not show it; ") {
		t.Errorf("a hint that leads nowhere:\n%s", out)
	}
}

// Details without parameters say nothing about them: what depends on them is not called
// inapplicable, and nothing is said of them that is not known.
func TestDetailsWithoutParameters(t *testing.T) {
	t.Parallel()
	for _, only := range []string{"", "list_notes", "create_note", "delete_note"} {
		for _, mode := range []string{guard.ModePlan, guard.ModeSafe, guard.ModeWrite, guard.ModeFull} {
			if only != "" && mode != guard.ModeWrite {
				continue
			}
			t.Run(only+" "+mode, func(t *testing.T) {
				t.Parallel()
				b := newStore(3)
				b.shape = func(s *small) {
					s.detail = func(op, standard string) string {
						if only != "" && op != only {
							return standard
						}
						return parsed(standard).Without("parameters").String()
					}
				}
				out, errs, _ := commandLine(t, b.adapter())("--mode", mode, "--level", "2")
				for _, untrue := range []string{
					"no READ operation takes fields", "no operation pages by cursors", "requires no identifier",
					"has every required parameter", "no operation has a", "no parameter has a",
				} {
					reads := only == "" || only == "list_notes" || only == "get_note" || only == "introspect"
					about := strings.HasPrefix(untrue, "no READ") || strings.HasPrefix(untrue, "no operation pages")
					if strings.Contains(out+errs, untrue) && (reads || !about) {
						t.Errorf("says %q:\n%s\n%s", untrue, out, errs)
					}
				}
				if others, own := b.whole(); others != 3 || own != 0 {
					t.Errorf("%d notes of others are whole, %d of the run are left", others, own)
				}
			})
		}
	}
}
