package scaffold

import (
	"cmp"
	"fmt"
	"strings"

	"mcptest/internal/cli/clientconfig"
)

// Configure takes the server from the configuration of a client. env returns the value of an
// environment variable.
func (sv *Server) Configure(path, name string, env func(name string) string) error {
	c, err := clientconfig.Read(path, name, func(variable string) bool { return env(variable) != "" })
	if err != nil {
		return err
	}
	sv.Argv = c.Command
	sv.URL = c.URL
	sv.Values = c.Env
	sv.Dir = c.Dir
	sv.Name = cmp.Or(sv.Name, c.Name)
	for _, v := range c.Variables {
		if env(v) == "" {
			return fmt.Errorf("the environment variable %s is not set", v)
		}
		if strings.Contains(fmt.Sprint(c.Command, c.URL, c.Env), "${"+v+"}") {
			sv.Refs = append(sv.Refs, v)
		}
	}
	for _, h := range c.Headers {
		header := Header{Name: h[0], Value: h[1]}
		for _, v := range c.Variables {
			placed := "${" + v + "}"
			switch {
			case header.Value == placed:
				header.Variable = v
			case header.Value == "Bearer "+placed && strings.EqualFold(h[0], "Authorization"):
				sv.BearerEnv = v
			}
			header.Value = strings.ReplaceAll(header.Value, placed, env(v))
		}
		if sv.BearerEnv == "" || !strings.EqualFold(h[0], "Authorization") {
			sv.Headers = append(sv.Headers, header)
		}
	}
	return nil
}
