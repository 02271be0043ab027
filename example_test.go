package mcptest_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mcptest"
)

// A test function that runs all cases of a suite. The suite starts the server, and
// a variable of the suite gets a value.
func ExampleTest() {
	_ = func(t *testing.T) {
		mcptest.Test(t, "testdata/goapi/suite.yaml", mcptest.Var("word", "good morning"))
	}
}

// The suite's server "api" runs in the test process, here with the official SDK.
func ExampleInProcess() {
	server := sdk.NewServer(&sdk.Implementation{Name: "api", Version: "1"}, nil)
	_ = func(t *testing.T) {
		mcptest.Test(t, "testdata/goapi/suite.yaml", mcptest.InProcess("api", func(ctx context.Context) (io.ReadWriteCloser, error) {
			client, end := net.Pipe()
			go server.Run(ctx, &sdk.IOTransport{Reader: end, Writer: end})
			return client, nil
		}))
	}
}

// The mistakes of a suite are found without running it.
func ExampleValidate() {
	fmt.Println(mcptest.Validate("testdata/goapi/suite.yaml"))
	fmt.Println(mcptest.Validate("testdata/goapi/suite.yaml", mcptest.Var("wrod", "hello")))
	// Output:
	// <nil>
	//
	// error: Var: the suite neither declares nor uses a variable called "wrod"
	//   hint: did you mean "word"?
}
