// Package judge talks to language models: it puts questions to one that may
// call tools, and has one judge an answer. It speaks two wire forms, that of
// OpenAI's chat completions, which Ollama and others share, and that of
// Anthropic's messages.
//
// Start reading at Client, Client.Chat and Client.Judge.
//
// Invariants:
//   - nothing is sent once the caps on calls and tokens are reached;
//   - a refusal for now (429, 5xx, a broken connection) is tried again a few
//     times, waiting as the endpoint asks; anything else is an error at once;
//   - an answer to be judged is data: it stands between markers that it
//     cannot contain, and a verdict counts only when its quotation is in it;
//   - the key is in no error and in no record.
package judge
