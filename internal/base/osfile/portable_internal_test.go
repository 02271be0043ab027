package osfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPortable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"api": "api", "Api": "Api", "io.github.user/server": "io.github.user_server", `a\b:c*d?e"f<g>h|i%j`: "a_b_c_d_e_f_g_h_i_j",
		"..hidden": "hidden", "": "", "a\tb": "a_b",
		"aux": "aux_", "CON": "CON_", "nul": "nul_", "prn": "prn_", "com1": "com1_", "LPT9": "LPT9_", "com¹": "com¹_",
		"aux.api": "aux_.api", "aux ": "aux _", "conout$": "conout$_",
		"auxiliary": "auxiliary", "com": "com", "com10": "com10", "console": "console", "my.aux": "my.aux",
	} {
		if got := MakePortable(text); got != want {
			t.Errorf("Portable(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestCheckWindowsPath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"out/report.json": "", `out\report.json`: "", "../out/x.xml": "", "./x": "", "auxiliary/x.json": "",
		"out/aux.json": "aux.json is the name of a device", "con/x.json": "con is the name of a device", "out/NUL": "NUL is the name of a device",
		"out/x.json.": "ends with a dot or a blank", "out /x": "ends with a dot or a blank", "a:b.json": "does not allow", "what?.json": "does not allow",
	} {
		err := checkWindowsPath(path)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("checkWindowsPath(%q) = %v, want %q", path, err, want)
		}
	}
}

func TestEscapeGlob(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a[1] b.yaml")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := filepath.Glob(EscapeGlob(path)); err != nil || len(found) != 1 || found[0] != path {
		t.Errorf("Glob found %q, %v", found, err)
	}
}
