package suite

// What people mean who know other programs' files. The hints are those of keys
// that a suite has not.

// AdviseKey knows the keys of a client's configuration file.
func (*Server) AdviseKey(key string) string {
	switch key {
	case "args":
		return "put the arguments behind the program: command: [program, argument, …]"
	case "type":
		return "leave it out: a server with command speaks stdio, one with url speaks HTTP (transport says which)"
	case "disabled":
		return "leave it out; run --server chooses among servers, skip: leaves out tests"
	}
	return ""
}

// AdviseKey knows the keys of other files of servers and of tests.
func (*document) AdviseKey(key string) string {
	switch key {
	case "mcpServers":
		return "servers are listed as servers: {name: {command: [program, argument, …]}}, or {url: …}"
	case "tests":
		return "tests stand in tools:, resources:, prompts: or protocol:, by what they call"
	}
	return ""
}
