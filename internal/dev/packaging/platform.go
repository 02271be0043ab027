package main

import "errors"

// platform is one pair of operating system and processor, in the words of Go,
// of npm and of Python.
type platform struct {
	goos, goarch string
	os, cpu      string // package.json
	wheel        string // platform tags of the wheel; the programs need no libc
}

// platforms are those of .goreleaser.yaml. Go 1.26 needs macOS 12.
var platforms = []platform{
	{"linux", "amd64", "linux", "x64", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"},
	{"linux", "arm64", "linux", "arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"},
	{"darwin", "amd64", "darwin", "x64", "macosx_12_0_x86_64"},
	{"darwin", "arm64", "darwin", "arm64", "macosx_12_0_arm64"},
	{"windows", "amd64", "win32", "x64", "win_amd64"},
	{"windows", "arm64", "win32", "arm64", "win_arm64"},
}

func platformOf(goos, goarch string) (platform, error) {
	for _, p := range platforms {
		if p.goos == goos && p.goarch == goarch {
			return p, nil
		}
	}
	return platform{}, errors.New("no packages for " + goos + "/" + goarch)
}

// program is the file name of mcptest there.
func (p platform) program() string {
	if p.goos == "windows" {
		return "mcptest.exe"
	}
	return "mcptest"
}

// npmName is the name of the npm package with the program.
func (p platform) npmName() string { return "@mcptest/" + p.os + "-" + p.cpu }
