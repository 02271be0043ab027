// Package judge puts questions to language models and has answers judged, by
// a model or by a program. It speaks two wire forms, that of OpenAI's chat
// completions, which Ollama and others share, and that of Anthropic's
// messages.
//
// Start reading at Judge, then Client.Chat and Program.
//
// Invariants:
//   - nothing is sent once the caps on calls and tokens are reached;
//   - a refusal for now (429, 5xx, a broken connection) is tried again a few
//     times, waiting as the endpoint asks but 20 s at most; anything else is
//     an error immediately; redirects are not followed;
//   - what is judged is data: one line of JSON between markers that it cannot
//     contain; what a judge says counts only as one JSON object of the form
//     asked for, and a model's only with a quotation of what it judges;
//   - no verdict is ever made up: a judge that fails is an error;
//   - the key is in no error, no answer and no record.
package judge
