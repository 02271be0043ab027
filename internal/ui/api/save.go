package api

import (
	"context"

	"mcptest/internal/base/jsonv"
)

// saveCassette saves the traffic of a server. The request names neither a file nor a folder.
func (a *API) saveCassette(_ context.Context, in ofServer) (jsonv.Value, error) {
	s, err := a.o.Hub.Server(in.Server)
	if err != nil {
		return jsonv.Value{}, err
	}
	name, err := a.o.Recorder.Save(s.View().Def)
	if err != nil {
		return jsonv.Value{}, err
	}
	a.o.Hub.Touch()
	return jsonv.ObjectOf("file", name), nil
}
