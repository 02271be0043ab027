// Issues-server is a small MCP server over a table of issues, for the example
// next to it. It speaks Streamable HTTP, and keeps the table in PostgreSQL or,
// where there is none, in an embedded SQLite.
//
//	issues-server -db URL -addr 127.0.0.1:8080   serve http://127.0.0.1:8080/mcp
//	issues-server -db URL -exec "SQL"            run statements and exit
//	issues-server -free-port                     print a loopback port that is free
//
// URL is postgres://… or sqlite:PATH; without -db it is read from the file that
// DATABASE_URL_FILE names.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	_ "modernc.org/sqlite"
)

func main() {
	log.SetFlags(0)
	db := flag.String("db", "", "postgres://… or sqlite:PATH")
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	stmts := flag.String("exec", "", "SQL to run in place of serving")
	port := flag.Bool("free-port", false, "print a free loopback port")
	flag.Parse()
	if *port {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(l.Addr().(*net.TCPAddr).Port)
		return
	}
	store, err := open(*db)
	if err != nil {
		log.Fatal(err)
	}
	defer store.db.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *stmts != "" {
		_, err = store.db.ExecContext(ctx, *stmts)
	} else {
		err = store.serve(ctx, *addr)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// store is the table of issues.
type store struct {
	db   *sql.DB
	kind string // "PostgreSQL" or "SQLite"
}

func open(url string) (*store, error) {
	if url == "" {
		b, err := os.ReadFile(os.Getenv("DATABASE_URL_FILE"))
		if err != nil {
			return nil, fmt.Errorf("no -db, and DATABASE_URL_FILE: %w", err)
		}
		url = strings.TrimSpace(string(b))
	}
	s := &store{kind: "PostgreSQL"}
	var err error
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		s.kind = "SQLite"
		s.db, err = sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	} else {
		s.db, err = sql.Open("pgx", url)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	const table = `CREATE TABLE IF NOT EXISTS issues (id INTEGER PRIMARY KEY, title TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'open')`
	if _, err := s.db.ExecContext(ctx, table); err != nil {
		return nil, fmt.Errorf("make the table: %w", err)
	}
	return s, nil
}

type issue struct {
	ID    int    `json:"id"`
	Title string `json:"title"`
	State string `json:"state"`
}

type issues struct {
	Issues []issue `json:"issues"`
}

type none struct{}

func (s *store) serve(ctx context.Context, addr string) error {
	server := mcp.NewServer(&mcp.Implementation{Name: "issues", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "list_issues", Description: "Lists all issues, a block of text for each"}, s.list)
	mcp.AddTool(server, &mcp.Tool{Name: "close_issue", Description: "Closes an issue"}, s.close)
	mcp.AddTool(server, &mcp.Tool{Name: "database", Description: "Says which database is behind this server"}, s.database)
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true}))
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) {
		if err := s.db.PingContext(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
	srv := &http.Server{Addr: addr, Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() {
		stop, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = srv.Shutdown(stop)
	})
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (s *store) list(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, issues, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT id, title, state FROM issues ORDER BY id`)
	if err != nil {
		return nil, issues{}, err
	}
	defer rows.Close()
	out := issues{Issues: []issue{}}
	res := &mcp.CallToolResult{Content: []mcp.Content{}}
	for rows.Next() {
		var i issue
		if err := rows.Scan(&i.ID, &i.Title, &i.State); err != nil {
			return nil, issues{}, err
		}
		out.Issues = append(out.Issues, i)
		res.Content = append(res.Content, &mcp.TextContent{Text: fmt.Sprintf("#%d %s (%s)", i.ID, i.Title, i.State)})
	}
	return res, out, rows.Err()
}

type number struct {
	ID int `json:"id" jsonschema:"number of the issue"`
}

func (s *store) close(ctx context.Context, _ *mcp.CallToolRequest, in number) (*mcp.CallToolResult, issue, error) {
	res, err := s.db.ExecContext(ctx, fmt.Sprintf(`UPDATE issues SET state = 'closed' WHERE id = %d`, in.ID))
	if err != nil {
		return nil, issue{}, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return nil, issue{}, fmt.Errorf("there is no issue %d", in.ID)
	}
	out := issue{ID: in.ID}
	err = s.db.QueryRowContext(ctx, fmt.Sprintf(`SELECT title, state FROM issues WHERE id = %d`, in.ID)).Scan(&out.Title, &out.State)
	return nil, out, err
}

type database struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

func (s *store) database(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, database, error) {
	query := `SELECT version()`
	if s.kind == "SQLite" {
		query = `SELECT sqlite_version()`
	}
	out := database{Name: s.kind}
	err := s.db.QueryRowContext(ctx, query).Scan(&out.Version)
	return nil, out, err
}
