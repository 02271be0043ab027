//go:build !unix

package watchdog

const supported = false

func ignoreSignals() {}
