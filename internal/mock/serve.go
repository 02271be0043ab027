package mock

import (
	"context"
	"io"

	"mcptest/internal/mcpserver"
)

// ServeStdio serves one client over in and out until in ends, ctx is done or a
// response ends the process. It returns the exit code for the process. After an exit
// step a read of in may still be blocked: the process is expected to end.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) (exitCode int, err error) {
	sess := s.Session()
	defer s.Close()
	if s.m.banner != nil {
		if _, err := out.Write(s.m.banner.bytes(&scope{sess: sess, req: &mcpserver.Request{}})); err != nil {
			return 1, err
		}
	}
	done := make(chan error, 1)
	go func() { done <- mcpserver.ServeStdio(ctx, hangUpReader{in, sess}, out, sess) }()
	select {
	case err = <-done:
	case <-s.exited:
		return s.exitCode, nil
	case <-ctx.Done(): // a read may block forever
		return 0, nil
	}
	select {
	case <-s.exited: // by the last request, while the input ended
		return s.exitCode, nil
	default:
	}
	if err == nil && s.wedged.Load() {
		select {
		case <-ctx.Done():
		case <-s.exited:
		}
	}
	if err != nil && ctx.Err() == nil {
		return 1, err
	}
	return 0, nil
}

// hangUpReader notifies the session when its client's input ends.
type hangUpReader struct {
	io.Reader
	sess *Session
}

func (r hangUpReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err != nil {
		r.sess.HangUp()
	}
	return n, err
}
