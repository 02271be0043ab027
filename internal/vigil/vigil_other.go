//go:build !unix

package vigil

const waits = false

func ignoreSignals() {}
