// Package model sends questions to language models and lets a model or a program
// evaluate answers. It supports two wire formats: OpenAI's chat completions, which
// Ollama and others share, and Anthropic's messages.
//
// Start reading at Judge, then Client.Chat and Program.
//
// Invariants:
//   - nothing is sent after the limits of calls and tokens are reached;
//   - a temporary failure (429, 5xx, a broken connection) is retried a few times,
//     after the time that the endpoint requests, at most 20 s; other failures are
//     errors immediately; redirects are not followed;
//   - the answer to evaluate is data: one line of JSON between markers that it cannot
//     contain; a judge must answer with one JSON object of the requested form, and a
//     model must include a quotation of the answer;
//   - no verdict is ever invented: a judge that fails is an error;
//   - the key is in no error, no answer and no record.
package model
