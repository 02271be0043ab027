package syserr_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"mcptest/internal/base/syserr"
	"mcptest/internal/base/testkit"
)

func TestTextOfErrors(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "none", "file")
	_, fileErr := os.ReadFile(file)
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(testkit.FindFreePort()))
	_, dialErr := net.Dial("tcp", address)
	folder := filepath.Dir(filepath.Dir(file))
	existsErr := os.Mkdir(folder, 0o755)
	for _, c := range []struct {
		err     error
		want    string
		refused bool
	}{
		{fileErr, "open " + file + ": no such file or directory", false},
		{dialErr, "dial tcp " + address + ": connect: connection refused", true},
		{existsErr, "mkdir " + folder + ": file exists", false},
	} {
		if got := syserr.Text(c.err); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
		if got := syserr.Is(c.err, syscall.ECONNREFUSED); got != c.refused {
			t.Errorf("%v: refused: %t", c.err, got)
		}
	}
}
