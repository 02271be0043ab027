package result

// What tests of the package's inside need.
var (
	AppendCase   = appendCase
	AppendString = appendString
)

// DecodeCase decodes one case.
func DecodeCase(text string) (*Case, error) { return decodeStored(0, rawCase{text: []byte(text)}) }
