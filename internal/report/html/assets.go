package html

import (
	"embed"

	"mcptest/internal/report/html/markup"
)

//go:embed page
var pageFiles embed.FS

func pageStyle() markup.Markup { return markup.Files(pageFiles, "page/report.css") }

func pageScript() markup.Markup { return markup.Files(pageFiles, "page/report.js") }

func sheetStyle() markup.Markup { return markup.Files(pageFiles, "page/report.css", "page/sheet.css") }

func trafficStyle() markup.Markup {
	return markup.Files(pageFiles, "page/report.css", "page/traffic.css")
}

func trafficScript() markup.Markup { return markup.Files(pageFiles, "page/traffic.js") }
