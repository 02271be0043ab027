// Package markup has the type of what a page contains unescaped.
//
// Only this package makes a Markup: from text, which it escapes ([Text], [Line], …), and
// from files that are compiled into the program ([Files]). So a template that prints a
// Markup cannot print the text of a server as elements.
package markup
