package cmdutil

// Program is a command line: what its help says, as data.
type Program struct {
	Name, Short, Long string
	Commands          []Command
	ExitCodes         []ExitCode
	ExitNote          string // what holds when several apply
}

// Command is one command of a program.
type Command struct {
	Name     string // run
	Synopsis string // mcptest run [paths…] [flags]
	Short    string
	Long     string
	Example  string
	Flags    []Flag
}

// Flag is one option of a command.
type Flag struct {
	Name    string // without dashes
	Letter  string // "" when it has none
	Value   string // its value; "" for a switch
	Default string // "" when there is none worth telling
	Doc     string
}

// ExitCode is one row of a program's table of exit codes.
type ExitCode struct {
	Code int
	Doc  string
}
