package cli_test

import (
	"crypto/sha256"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/base/display"
)

// The pictures of the README are made from what the program prints: `make pictures`
// writes those that are out of date. They are up to date if their text is that of a run
// now, apart from times; fonts and colors are not compared: delete a picture to renew it.

// terminals are the pictures of the terminal, each with its command.
var terminals = map[string]string{
	"failure.svg": "mcptest run",
	"matrix.svg":  "mcptest run matrix.yaml -r matrix",
}

func TestPictures(t *testing.T) {
	t.Parallel()
	folder, err := filepath.Abs("../../docs/pictures")
	if err != nil {
		t.Fatal(err)
	}
	write := os.Getenv("MCPTEST_PICTURES") != ""
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	for name, command := range terminals {
		out := printed(t, dir, command+" --color always")
		file := filepath.Join(folder, name)
		want := "$ " + command + "\n\n" + display.StripColors(out)
		picture, err := os.ReadFile(file)
		if write && (err != nil || changed(pictureText(string(picture)), want) != "") {
			picture = []byte(terminalPicture(command, out))
			err = os.WriteFile(file, picture, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		if d := changed(pictureText(string(picture)), want); d != "" {
			t.Errorf("%s is out of date: make pictures\n%s", name, d)
		}
	}
	printed(t, dir, "mcptest run -r html=report.html")
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	want := pageText(string(page))
	if write && changed(photographed(folder), want) != "" {
		photograph(t, folder, filepath.Join(dir, "report.html"), want)
	}
	if d := changed(photographed(folder), want); d != "" {
		t.Errorf("page.png is out of date, or page.txt is not its text: make pictures\n%s", d)
	}
}

// printed runs a command, which fails because a test does, and returns its output.
func printed(t *testing.T, dir, command string) string {
	t.Helper()
	words := strings.Fields(command)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CI=")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return strings.TrimSpace(string(out))
}

// changed compares the lines of a picture with those of a run, without what varies and
// without blanks, of which a picture has those that it needs for its columns.
func changed(got, want string) string {
	lines := func(s string) []string {
		return strings.Split(strings.NewReplacer(" ", "", "\u00a0", "").Replace(maskVarying(strings.TrimSpace(s), "~")), "\n")
	}
	return cmp.Diff(lines(got), lines(want))
}

var (
	sequence = regexp.MustCompile("\x1b\\[([0-9;]*)m")
	tag      = regexp.MustCompile(`<[^>]*>`)
)

// terminalPicture draws the output of a command. Each run of letters has its width, so
// that the columns do not depend on the font.
func terminalPicture(command, out string) string {
	const letter, row, margin = 8.4, 20.0, 18.0
	lines := append([]string{"\x1b[2m$\x1b[0m \x1b[1m" + command + "\x1b[0m", ""}, strings.Split(out, "\n")...)
	columns := 0
	var body strings.Builder
	for i, line := range lines {
		columns = max(columns, display.Width(display.StripColors(line)))
		y := margin + row*float64(i) + 15
		fmt.Fprintf(&body, `<text y="%.0f">`, y)
		at, style := 0, ""
		draw := func(s string) {
			width := display.Width(s)
			if blank := s[:len(s)-len(strings.TrimLeft(s, " "))]; len(blank) < len(s) {
				s = s[len(blank):]
				fmt.Fprintf(&body, `<tspan x="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs"%s>%s</tspan>`,
					margin+letter*float64(at+len(blank)), letter*float64(width-len(blank)), style, html.EscapeString(blankless(s)))
			}
			at += width
		}
		rest := line
		for _, m := range sequence.FindAllStringSubmatchIndex(line, -1) {
			draw(rest[:m[0]-(len(line)-len(rest))])
			rest = line[m[1]:]
			style = ""
			if code := line[m[2]:m[3]]; code != "0" && code != "" {
				style = ` class="c` + code + `"`
			}
		}
		draw(rest)
		body.WriteString("</text>\n")
	}
	width, height := 2*margin+letter*float64(columns), 2*margin+row*float64(len(lines))
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%[1]f" height="%[2]f" role="img">
<title>%s</title>
<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#e7eaf0;white-space:pre}.c1{font-weight:bold}.c2{fill:#98a3b3}.c31{fill:#ff7b7f}.c32{fill:#57c98a}.c33{fill:#e9b44c}.c35{fill:#dd8af0}.c36{fill:#6fc3df}</style>
<rect width="100%%" height="100%%" rx="10" fill="#171b23"/>
%s</svg>
`, width, height, html.EscapeString(command), body.String())
}

// blankless makes several blanks stay: XML readers fold them.
func blankless(s string) string { return strings.ReplaceAll(s, "  ", "\u00a0 ") }

// pictureText returns the lines of a picture.
func pictureText(svg string) string {
	var out []string
	for line := range strings.SplitSeq(svg, "\n") {
		if strings.HasPrefix(line, "<text") {
			out = append(out, html.UnescapeString(tag.ReplaceAllString(line, "")))
		}
	}
	return strings.Join(out, "\n")
}

// pageText returns the words of the part of a page that its picture shows, without the
// time of the run and the mark of a test that was slow today.
func pageText(page string) string {
	_, shown, _ := strings.Cut(page, "<body>")
	shown, _, found := strings.Cut(shown, "<h4>timeline")
	if !found {
		return "no failed test has a timeline"
	}
	shown = regexp.MustCompile(`<time.*?</time>|<span class="tag w">slow</span>`).ReplaceAllString(shown, "")
	var out []string
	for line := range strings.SplitSeq(html.UnescapeString(tag.ReplaceAllString(shown, " ")), "\n") {
		if words := strings.Fields(maskVarying(line, "~")); len(words) > 0 {
			out = append(out, strings.Join(words, " "))
		}
	}
	return strings.Join(out, "\n") + "\n"
}

// photograph takes the picture of the page, and writes its text.
func photograph(t *testing.T, folder, file, text string) {
	t.Helper()
	chromium := ""
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); chromium == "" && name != "" && err == nil {
			chromium = path
		}
	}
	if chromium == "" {
		t.Fatal("no Chromium is installed: apt-get install chromium, or set CHROMIUM to one")
	}
	cmd := exec.Command("node", "picture.mjs", chromium, file, filepath.Join(folder, "page.png"))
	cmd.Dir = "../../testdata/consumers"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(folder, "page.txt"), []byte(pngSum(folder)+"\n"+text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// photographed returns the text of the picture of the page, or "" if the file with it
// does not belong to the picture.
func photographed(folder string) string {
	text, _ := os.ReadFile(filepath.Join(folder, "page.txt"))
	sum, shown, _ := strings.Cut(string(text), "\n")
	if sum != pngSum(folder) {
		return ""
	}
	return shown
}

func pngSum(folder string) string {
	data, _ := os.ReadFile(filepath.Join(folder, "page.png"))
	return fmt.Sprintf("page.png sha256:%x", sha256.Sum256(data))
}

// TestReadme: the README is short, and its first screen shows a picture and the two
// commands with which everything starts.
func TestReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(string(text))); n >= 900 {
		t.Errorf("README.md has %d words, fewer than 900 are allowed", n)
	}
	screen := strings.Join(strings.SplitAfter(string(text), "\n")[:30], "")
	for _, want := range []string{"go run ./cmd/mcptest run --config examples/suite-composition.yml", "make test", "docs/pictures/failure.svg"} {
		if !strings.Contains(screen, want) {
			t.Errorf("the first 30 lines of README.md do not have %s", want)
		}
	}
	size := int64(0)
	for _, m := range regexp.MustCompile(`docs/pictures/[a-z-]+\.(svg|png)`).FindAllString(string(text), -1) {
		info, err := os.Stat("../../" + m)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size == 0 || size > 300<<10 {
		t.Errorf("the pictures of README.md have %d bytes, 300 KiB are allowed", size)
	}
}
