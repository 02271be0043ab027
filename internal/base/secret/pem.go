package secret

import "strings"

// findPrivateKey finds a PEM block (RFC 7468) by its "BEGIN ". If the end is missing
// because the text was truncated, the block contains everything that looks like the
// key.
func findPrivateKey(s string, i, j int) (start, end int) {
	if j = scanKeyLabel(s, i, j); j == 0 {
		return 0, 0
	}
	start = dashesBefore(s, i)
	const (
		footer  = "-----END "
		longest = 16 << 10 // of a key; after that, single lines that look like a key are masked
	)
	after := scanKeyTextAfter(s, j)
	k := strings.Index(s[j:min(len(s), j+longest)], footer)
	if after == j && (k < 0 || !isOnlyKey(s[j:j+k])) {
		return start, j // only mentioned
	}
	if k < 0 {
		return start, after
	}
	end = j + k + len(footer)
	if k = strings.Index(s[end:], "-----"); k < 0 || k > 64 {
		return start, end
	}
	return start, end + k + len("-----")
}

// findPrivateKeyEnd finds a PEM block by its "END " if its beginning was truncated.
func findPrivateKeyEnd(s string, i, j int) (start, end int) {
	if j = scanKeyLabel(s, i, j); j == 0 {
		return 0, 0
	}
	dashes := dashesBefore(s, i)
	if start = scanKeyTextBefore(s, dashes); start == dashes {
		return 0, 0
	}
	return start, j
}

// scanKeyLabel returns the end of a line that begins or ends a private key, or 0 for
// other text. Its label begins at j.
func scanKeyLabel(s string, i, j int) int {
	label, _, ok := strings.Cut(s[j:min(len(s), j+64)], "-----")
	if !ok || !strings.HasSuffix(s[:i], "-----") || !strings.Contains(label, "PRIVATE KEY") {
		return 0
	}
	return j + len(label) + len("-----")
}

// isOnlyKey reports whether the text between the two lines of a PEM block is a key of
// any length, not a sentence.
func isOnlyKey(s string) bool {
	if s == "" || !strings.ContainsRune("\r\n\\", rune(s[0])) {
		return false // a block has lines
	}
	s = strings.TrimRight(strings.NewReplacer("\r", "", "\n", "", `\r`, "", `\n`, "", `\`, "").Replace(s), "-")
	s = strings.TrimSpace(s)
	return s != "" && consistsOf(s, keyChar)
}

func dashesBefore(s string, i int) int { return len(strings.TrimRight(s[:i], "-")) }

// Lines of a key are 64 characters of base64, except for the last one. They are
// separated by a line end, real or escaped, and at most a mark of a diff or of a
// list.
const (
	fullLine = 40
	keyLine  = 16
	maxGap   = 12
)

// KeyLines tracks the lines of a text and finds those that belong to a private key in
// PEM after its first line.
type KeyLines struct{ open bool }

// HidesLine reports whether the next line belongs to a key that began in an earlier line.
func (k *KeyLines) HidesLine(line string) bool {
	text := strings.TrimSpace(line)
	n := scanSpan(text, 0, keyChar)
	_, label, ends := strings.Cut(line, "-----END ")
	ends = ends && strings.Contains(label[:min(len(label), 64)], "PRIVATE KEY")
	hides := k.open && (ends || n > 0 && n == len(text) || n >= keyLine)
	switch {
	case hides:
		k.open = !ends
	case openKey(line) >= 0:
		k.open = true
	case text != "":
		k.open = false
	}
	return hides
}

// isBetweenLines reports whether s begins with a byte that may stand between two lines of a key.
func isBetweenLines(s string) bool {
	if s[0] == '-' { // two begin the line with which the key ends
		return !strings.HasPrefix(s, "--")
	}
	return !keyChar(s[0])
}

// scanKeyTextAfter returns the end of the text after i that looks like lines of a key.
func scanKeyTextAfter(s string, i int) int {
	end, last, stop := i, false, len(strings.TrimRight(s, "\r\n"))
	for {
		j := i
		for j < len(s) && isBetweenLines(s[j:]) {
			j++
			if j-i > maxGap {
				return end
			}
		}
		k := scanSpan(s, j, keyChar)
		n := k - j
		switch {
		case n == 0:
			return end
		case n >= keyLine, n >= 4 && cut(s[:stop], min(k, stop)), headers[s[j:k]]:
			end, last = k, n >= fullLine
			if k >= stop {
				return len(s)
			}
		case last && n > 2:
			return k
		case n > 2:
			return end
		}
		i = k
	}
}

// headers are the words of the encryption headers of a key.
var headers = set("Proc Type 4 ENCRYPTED DEK Info AES 128 192 256 CBC DES EDE3")

// scanKeyTextBefore returns the start of the text before end that looks like lines of a
// key, or end if there is none.
func scanKeyTextBefore(s string, end int) int {
	start, i, full := end, end, false
	for {
		j := i
		for j > 0 && !keyChar(s[j-1]) && i-j < maxGap {
			j--
		}
		k := j
		for k > 0 && keyChar(s[k-1]) {
			k--
		}
		n := j - k
		if n == 0 || n > 2 && n < keyLine && start != end && k > 0 {
			break
		}
		if n > 2 {
			start = k
			full = full || n >= keyLine || k == 0
		}
		i = k
	}
	if !full {
		return end
	}
	return start
}

// openKey returns the start of a private key that does not end in s, or -1.
func openKey(s string) int {
	i := strings.LastIndex(s, "-----BEGIN ")
	if i < 0 || !strings.Contains(s[i:min(len(s), i+80)], "PRIVATE KEY") || strings.Contains(s[i:], "-----END ") {
		return -1
	}
	return i
}
