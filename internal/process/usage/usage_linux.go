package usage

import (
	"bytes"
	"os"
	"strconv"
)

// pause is the time between two measurements.
const pause = 0

// Supported reports whether anything is measured on this system.
const Supported = true

// read sums up what the members use; false means that none is alive.
func (m *Meter) read() bool {
	var sum Usage
	for _, pid := range m.members {
		dir := "/proc/" + strconv.Itoa(pid)
		status, err := os.ReadFile(dir + "/status")
		if err != nil {
			continue // it has ended
		}
		sum.Memory += number(status, "\nRssAnon:") * 1024
		sum.Threads += number(status, "\nThreads:")
		sum.Processes++
		if n := descriptors(dir + "/fd"); n == Unknown || sum.Descriptors == Unknown {
			sum.Descriptors = Unknown // a process of another user
		} else {
			sum.Descriptors += n
		}
	}
	if sum.Processes > 0 {
		m.last = sum
	}
	return sum.Processes > 0
}

// number returns the number after a name; 0 if there is none.
func number(status []byte, name string) float64 {
	_, rest, _ := bytes.Cut(status, []byte(name))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, _ := strconv.ParseFloat(string(bytes.TrimSpace(bytes.TrimSuffix(line, []byte("kB")))), 64)
	return n
}

// descriptors counts open descriptors.
func descriptors(dir string) float64 {
	f, err := os.Open(dir)
	if err != nil {
		return Unknown
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return Unknown
	}
	return float64(len(names))
}
