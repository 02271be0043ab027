package proc

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
)

// longestBatchLine is the number of characters that cmd.exe accepts in a command line.
const longestBatchLine = 8191

// EscapeBatch changes a command that runs a batch file on Windows, so that cmd.exe takes no
// argument for a command of its own. Start does this by itself.
func EscapeBatch(cmd *exec.Cmd) error {
	if runtime.GOOS != "windows" || !isBatch(cmd.Path) {
		return nil
	}
	return runAsBatch(cmd)
}

// isBatch reports whether Windows runs a file with cmd.exe. It ignores blanks and dots at
// the end of a name.
func isBatch(path string) bool {
	name := strings.ToLower(strings.TrimRight(path, " ."))
	return strings.HasSuffix(name, ".cmd") || strings.HasSuffix(name, ".bat")
}

// batchLine returns the arguments of cmd.exe that run a batch file, so that the file
// receives every argument as it is: no argument is a command, an operator or a variable of
// cmd.exe. What cannot be passed is an error that names the argument.
//
// cmd.exe reads the line before the program does, by rules of its own: ^ & | < > ( ) are
// operators outside of double quotes, and %NAME% is a variable everywhere. The extra pair of
// quotes around the whole is the one that /c removes. Without /v:OFF an exclamation mark is
// an operator, too, and /d skips the commands that the registry runs first.
func batchLine(script string, args []string) (string, error) {
	var b strings.Builder
	b.WriteString(`/e:ON /v:OFF /d /c "`)
	b.WriteString(batchWord(script, true))
	for i, arg := range args {
		if strings.ContainsAny(arg, "\r\n\x00") {
			return "", fmt.Errorf("argument %d (%q) contains a line break, and a batch file cannot receive it", i+1, arg)
		}
		b.WriteString(" " + batchWord(arg, needsBatchQuotes(arg)))
	}
	b.WriteString(`"`)
	if b.Len() > longestBatchLine {
		return "", fmt.Errorf("the command line has %d characters, and cmd.exe, which runs batch files, accepts %d", b.Len(), longestBatchLine)
	}
	return b.String(), nil
}

// batchWord escapes a word for cmd.exe and for the program that splits the line afterwards.
// A double quote is doubled: \" would end the quotes for cmd.exe, and what follows would be
// commands. Programs that are built with Microsoft's runtime, such as Node.js and Python,
// read two as one; those of Go end a word there. Backslashes before a quote are doubled for
// the program.
//
// The line of a command has no escape for a percent sign. %cd:~,% is the empty beginning of
// the variable cd, so that %%cd:~,% is one percent sign that begins no variable.
func batchWord(word string, quoted bool) string {
	var b strings.Builder
	if quoted {
		b.WriteByte('"')
	}
	backslashes := 0
	for i := range len(word) {
		switch word[i] {
		case '\\':
			backslashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, backslashes) + `"`)
			backslashes = 0
		case '%':
			b.WriteString("%%cd:~,")
			backslashes = 0
		default:
			backslashes = 0
		}
		b.WriteByte(word[i])
	}
	if quoted {
		b.WriteString(strings.Repeat(`\`, backslashes) + `"`)
	}
	return b.String()
}

// needsBatchQuotes reports whether an argument has a character that is not known to be
// harmless outside of quotes. A file that writes "%~1" takes a backslash at the end for the
// escape of its own quote.
func needsBatchQuotes(arg string) bool {
	if arg == "" || strings.HasSuffix(arg, `\`) {
		return true
	}
	for _, r := range arg {
		isLetterOrDigit := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if r < 0xA0 && !isLetterOrDigit && !strings.ContainsRune(`#$*+-./:?@\_`, r) {
			return true
		}
	}
	return false
}
