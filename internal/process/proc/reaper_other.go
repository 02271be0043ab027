//go:build !linux

package proc

import "context"

// Reaper adopts orphans on Linux; on this system it does nothing.
type Reaper struct{}

// Adopt returns nil: only Linux lets a process adopt orphans.
func Adopt() (*Reaper, error) { return nil, nil }

func (r *Reaper) sweep(context.Context, func(int) string) []Leftover { return nil }

// Close does nothing.
func (r *Reaper) Close() error { return nil }

func (r *Reaper) own(Ref)            {}
func (r *Reaper) disown(Ref)         {}
func (r *Reaper) kill()              {}
func (r *Reaper) strays([]Ref) []Ref { return nil }
func (r *Reaper) release()           {}
