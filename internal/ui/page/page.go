package page

import (
	"embed"
	"net/http"
	"path"
	"strings"
)

//go:embed files
var files embed.FS

// types are the types of the files, by the end of their names.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml",
}

// Serve answers a request for a file of the page.
func Serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET is answered here", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	if name == "" {
		name = "index.html"
	}
	data, err := files.ReadFile("files/" + name)
	kind := types[path.Ext(name)]
	if err != nil || kind == "" {
		http.Error(w, "there is no such page", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", kind)
	if r.Method == http.MethodGet {
		_, _ = w.Write(data)
	}
}
