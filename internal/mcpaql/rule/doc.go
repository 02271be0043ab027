// Package rule is the table of MCP-AQL requirements.
// Every rule has an id, the requirement that it represents, the section of the
// specification, a hint how to fix a violation, and its weight in each of the two
// rule sets. Reference gives the verdicts of the specification's own prototype
// runner, so that bundles written for it keep their results. Strict follows the text
// of the specification where the prototype passes because evidence is absent or
// because of a coincidence of text.
// The table is rules.json. Reports, explain and the printed reference of rules are generated from the table.
// It is written from the MCP-AQL specification's documents (CC BY 4.0,
// https://mcpaql.com) and contains no schema file, fixture or program text of the
// specification.
package rule
