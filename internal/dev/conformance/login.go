package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"time"
)

// clientDocument is the address by which the suite identifies its client, if it
// accepts client ID metadata documents.
const clientDocument = "https://conformance-test.local/client-metadata.json"

// secretEnv names the variable with the secret of a client that is registered in
// advance.
const secretEnv = "CONFORMANCE_CLIENT_SECRET"

// login lists and calls the tools of a server behind OAuth.
func login(name, address string) *scenario {
	oauth := object{"grant": "authorization_code", "headless": true}
	var given struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
	}
	_ = json.Unmarshal([]byte(os.Getenv(contextEnv)), &given) // most scenarios have no context
	switch {
	case given.ClientID != "" && given.ClientSecret != "":
		_ = os.Setenv(secretEnv, given.ClientSecret)
		oauth["client_id"], oauth["client_secret_env"], oauth["issuer"] = given.ClientID, secretEnv, issuerOf(address)
	default:
		oauth["client_metadata_url"] = clientDocument
	}
	if name == "auth/client-credentials-basic" {
		delete(oauth, "headless")
		oauth["grant"] = "client_credentials"
	}
	list := []object{{"name": "list", "method": "tools/list"}}
	return &scenario{
		server: object{"auth": object{"oauth": oauth}},
		blocks: map[string][]object{"protocol": list, "tools": {call("test-tool", nil)}},
	}
}

// issuerOf asks the server for its authorization server, as a user does before
// writing it into the suite.
func issuerOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.Path = "/.well-known/oauth-protected-resource" + u.Path
	client := &http.Client{Timeout: 10 * time.Second}
	resp, err := client.Get(u.String())
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	var meta struct {
		Servers []string `json:"authorization_servers"`
	}
	if json.NewDecoder(resp.Body).Decode(&meta) != nil || len(meta.Servers) == 0 {
		return ""
	}
	return meta.Servers[0]
}
