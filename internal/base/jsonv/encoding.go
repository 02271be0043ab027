package jsonv

import "bytes"

// SaveAsUTF8 is the hint for a text in another encoding.
const SaveAsUTF8 = "save it as UTF-8 (PowerShell: … | Out-File -Encoding utf8 FILE)"

// DetectEncoding returns the name of the encoding of a text that begins like UTF-16 or
// UTF-32, which some programs write unasked; otherwise "".
func DetectEncoding(text []byte) string {
	switch {
	case bytes.HasPrefix(text, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(text, []byte("\x00\x00\xfe\xff")):
		return "UTF-32"
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		return "UTF-16"
	case len(text) < 4:
		return ""
	}
	low, high := text[0] == 0 && text[2] == 0, text[1] == 0 && text[3] == 0
	if low != high && (text[0] != 0) == (text[2] != 0) && (text[1] != 0) == (text[3] != 0) {
		return "UTF-16" // without a mark: every second byte of ASCII is zero
	}
	return ""
}

// explainSyntax returns the error for a text whose value is not JSON: the encoding, if
// the text is in another one, otherwise what the scanner found.
func explainSyntax(text []byte, found *SyntaxError) *SyntaxError {
	if name := DetectEncoding(text); name != "" {
		return newSyntaxError(0, "the text is encoded in %s, not UTF-8; %s", name, SaveAsUTF8)
	}
	return found
}
