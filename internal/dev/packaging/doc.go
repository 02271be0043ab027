// Command packaging builds the packages of a release from compiled programs: npm
// tarballs, Python wheels, a Homebrew formula, and the list of modules in a
// program as CycloneDX. It uploads nothing.
//
//	go run ./internal/dev/packaging -version 1.2.3                    # this platform, compiled here
//	go run ./internal/dev/packaging -dist dist -release-url URL       # all, as goreleaser compiled them
//	go run ./internal/dev/packaging -sbom PROGRAM -out FILE
//
// The same programs give the same bytes. What the packages contain in addition to
// the program is in the folder packaging.
//
// Entry point: main in main.go.
package main
