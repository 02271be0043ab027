package result

// EncodeCase returns the JSON form of a case.
func EncodeCase(c *Case) ([]byte, error) { return marshal(fillLists(c)) }

// DecodeCase decodes one case.
func DecodeCase(text string) (*Case, error) { return decodeStored(0, rawCase{text: []byte(text)}) }
