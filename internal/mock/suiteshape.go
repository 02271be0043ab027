package mock

import "mcptest/internal/source"

// refuseSuite reports a suite that was given in place of a manifest. Both are
// YAML with a list of tools; a suite's are tests.
func refuseSuite(n *source.Node, d *source.Decoder) bool {
	at := suiteSign(n)
	if at == nil {
		return false
	}
	diag := d.Errorf(at, "", "this is a suite of tests, not a manifest of a server; did you mean mcptest run?")
	diag.Code = "suite-as-manifest"
	diag.Hint = "mcptest run FILE runs a suite; a manifest is one map mock_server: {name, tools, resources, prompts}"
	return true
}

// suiteSign finds what only a suite has, nil for nothing: one of its keys, or a
// test.
func suiteSign(n *source.Node) *source.Node {
	if n.Kind != source.KindMap || n.Get("mock_server") != nil || n.Get("jsonrpc") != nil {
		return nil
	}
	for _, f := range n.Fields {
		switch f.Key.Text {
		case "servers", "default_server", "imports", "defaultTest", "default_test", "protocol", "tests", "run_options", "setup", "setup_per_test", "teardown":
			return f.Key
		case "tools", "resources", "prompts":
			for _, item := range f.Value.Items {
				if sign := testSign(item); sign != nil {
					return sign
				}
			}
		}
	}
	return nil
}

// testSign finds the key of an entry that makes it a test, nil for none.
func testSign(n *source.Node) *source.Node {
	if n.Kind != source.KindMap || n.Get("inputSchema") != nil || n.Get("response") != nil {
		return nil
	}
	for _, f := range n.Fields {
		switch f.Key.Text {
		case "tool", "args", "prompt", "expect", "steps", "server":
			return f.Key
		}
	}
	return nil
}
