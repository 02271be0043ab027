package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

const page = 4096

// Positions in the headers of a program.
const (
	peAt          = 0x3c // in the file: where the headers begin
	sectionsAt    = 6    // in the headers
	symbolsAt     = 12
	optionalAt    = 20
	headersLength = 24
	alignmentAt   = 36 // in the optional header
	lengthAt      = 60
	sectionLength = 40
	rawAt         = 16 // in the row of a section: the length of its data, and where they begin
)

var errNoProgram = errors.New("not a program for Windows")

func main() {
	for _, path := range os.Args[1:] {
		if err := alignFile(path); err != nil {
			fmt.Fprintf(os.Stderr, "pealign: %s: %v\n", path, err)
			os.Exit(1)
		}
	}
}

func alignFile(path string) error {
	program, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	aligned, err := align(program)
	if err != nil {
		return err
	}
	return os.WriteFile(path, aligned, 0o755)
}

// align returns a program whose sections begin at pages.
func align(program []byte) ([]byte, error) {
	if len(program) < peAt+4 || !bytes.HasPrefix(program, []byte("MZ")) {
		return nil, errNoProgram
	}
	number := binary.LittleEndian
	pe := int(number.Uint32(program[peAt:]))
	if len(program) < pe+headersLength+lengthAt+4 || !bytes.HasPrefix(program[pe:], []byte("PE\x00\x00")) {
		return nil, errNoProgram
	}
	sections := int(number.Uint16(program[pe+sectionsAt:]))
	optional := pe + headersLength
	table := optional + int(number.Uint16(program[pe+optionalAt:]))
	headers := int(number.Uint32(program[optional+lengthAt:]))
	if len(program) < headers || headers < table+sections*sectionLength {
		return nil, errNoProgram
	}

	out := pad(bytes.Clone(program[:headers]))
	number.PutUint32(out[optional+lengthAt:], uint32(len(out)))
	number.PutUint32(out[optional+alignmentAt:], page)
	clear(out[pe+symbolsAt : pe+symbolsAt+8])
	for i := range sections {
		row := table + i*sectionLength + rawAt
		length, from := int(number.Uint32(out[row:])), int(number.Uint32(out[row+4:]))
		if length == 0 {
			continue
		}
		if len(program) < from+length {
			return nil, errNoProgram
		}
		to := len(out)
		out = pad(append(out, program[from:from+length]...))
		number.PutUint32(out[row:], uint32(len(out)-to))
		number.PutUint32(out[row+4:], uint32(to))
	}
	return out, nil
}

// pad makes the length a number of pages.
func pad(data []byte) []byte {
	return append(data, make([]byte, (page-len(data)%page)%page)...)
}
