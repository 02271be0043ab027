package main

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"strings"
	"testing"
)

// makeProgram returns a program with two sections, with data at 512 and 1024.
func makeProgram() []byte {
	program := make([]byte, 1536)
	copy(program, "MZ")
	binary.LittleEndian.PutUint32(program[peAt:], 64)
	header := pe.FileHeader{Machine: pe.IMAGE_FILE_MACHINE_AMD64, NumberOfSections: 2, SizeOfOptionalHeader: 240, PointerToSymbolTable: 0}
	optional := pe.OptionalHeader64{Magic: 0x20b, SectionAlignment: page, FileAlignment: 512, SizeOfHeaders: 512, NumberOfRvaAndSizes: 16}
	var b bytes.Buffer
	b.WriteString("PE\x00\x00")
	binary.Write(&b, binary.LittleEndian, header)
	binary.Write(&b, binary.LittleEndian, optional)
	for i := range uint32(2) {
		binary.Write(&b, binary.LittleEndian, pe.SectionHeader32{
			Name: [8]uint8{'.', 'a' + uint8(i)}, VirtualSize: 5, VirtualAddress: page * (1 + i), SizeOfRawData: 512, PointerToRawData: 512 * (1 + i),
		})
	}
	copy(program[64:], b.Bytes())
	copy(program[512:], "first")
	copy(program[1024:], "other")
	return program
}

func TestAlign(t *testing.T) {
	t.Parallel()
	aligned, err := align(makeProgram())
	if err != nil {
		t.Fatal(err)
	}
	file, err := pe.NewFile(bytes.NewReader(aligned))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"first", "other"} {
		section := file.Sections[i]
		data, err := section.Data()
		if err != nil || !strings.HasPrefix(string(data), want) {
			t.Errorf("section %d has %q (%v)", i, data[:min(8, len(data))], err)
		}
		if section.Offset == 0 || section.Offset%page != 0 {
			t.Errorf("section %d begins at %d", i, section.Offset)
		}
	}
}

func TestAlignRefusesOthers(t *testing.T) {
	t.Parallel()
	for _, other := range [][]byte{nil, []byte("MZ"), makeProgram()[:600], bytes.Repeat([]byte("x"), 2000)} {
		if _, err := align(other); err == nil {
			t.Errorf("%d bytes are no program", len(other))
		}
	}
}
