//go:build !linux

package proxy

import "os/exec"

// Isolate fails: see [ErrNoNamespace].
func (p *Proxy) Isolate(string, []string) (*Isolation, error) { return nil, ErrNoNamespace }

func inNamespace(*exec.Cmd) {}

// BecomeIsolated does nothing on this system.
func BecomeIsolated([]string) error { return ErrNoNamespace }
