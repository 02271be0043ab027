package toolresult

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"

	"mcptest/internal/base/jsonv"
)

// decodeBase64 reads base64 of the standard alphabet, with or without padding.
func decodeBase64(text string) ([]byte, bool) {
	if data, err := base64.StdEncoding.DecodeString(text); err == nil {
		return data, true
	}
	data, err := base64.RawStdEncoding.DecodeString(text)
	return data, err == nil
}

// detectType returns the type that the first bytes of an image show, "" for an unknown one.
func detectType(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(data, []byte{0xff, 0xd8, 0xff}):
		return "image/jpeg"
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return "image/gif"
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return "image/webp"
	case bytes.HasPrefix(data, []byte("BM")) && len(data) > 26:
		return "image/bmp"
	case bytes.HasPrefix(data, []byte("<svg")), bytes.HasPrefix(data, []byte("<?xml")):
		return "image/svg+xml"
	}
	return ""
}

// measure returns the width and height of an image, 0 if they are not known.
func measure(data []byte) (width, height int) {
	var config image.Config
	var err error
	r := bytes.NewReader(data)
	switch detectType(data) {
	case "image/png":
		config, err = png.DecodeConfig(r)
	case "image/jpeg":
		config, err = jpeg.DecodeConfig(r)
	case "image/gif":
		config, err = gif.DecodeConfig(r)
	case "image/webp":
		return measureWebP(data)
	}
	if err != nil {
		return 0, 0
	}
	return config.Width, config.Height
}

// measureWebP reads the size from the first chunk of a WebP file (RFC 9649).
func measureWebP(data []byte) (width, height int) {
	if len(data) < 30 {
		return 0, 0
	}
	chunk := data[20:]
	switch string(data[12:16]) {
	case "VP8X":
		return 1 + int24(chunk[4:]), 1 + int24(chunk[7:])
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(chunk[6:]) & 0x3fff), int(binary.LittleEndian.Uint16(chunk[8:]) & 0x3fff)
	case "VP8L":
		bits := binary.LittleEndian.Uint32(chunk[1:])
		return 1 + int(bits&0x3fff), 1 + int(bits>>14&0x3fff)
	}
	return 0, 0
}

// int24 reads a number of three bytes, the lowest first.
func int24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// estimateTokens estimates the tokens of an image from its size in pixels.
func estimateTokens(block jsonv.Value) int {
	data, ok := decodeBase64(block.Lookup("data").Text())
	if !ok || !strings.HasPrefix(block.Lookup("mimeType").Text(), "image/") {
		return 0
	}
	width, height := measure(data)
	patches := func(pixels int) int { return (pixels + patchPixels - 1) / patchPixels }
	return patches(width) * patches(height)
}
