package main

// gaps are the required scenarios that are not passed yet, by side, with the
// reason: "server caching": "the mock does not …". docs/rough-edges.md tells of
// the same. There is none at present.
var gaps = map[string]string{}
