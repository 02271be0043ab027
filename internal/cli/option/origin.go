package option

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/report/result"
)

// ciSystem names the variables in which a CI system says what it checked out, and the page
// of its job.
type ciSystem struct {
	commit   string
	branches []string // the first that is set
	url      string
}

// listCISystems is the table of the CI systems that are known.
func listCISystems() []ciSystem {
	return []ciSystem{
		// GitHub, Gitea, Forgejo
		{"GITHUB_SHA", []string{"GITHUB_HEAD_REF", "GITHUB_REF_NAME"}, ""},
		// GitLab
		{"CI_COMMIT_SHA", []string{"CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CI_COMMIT_REF_NAME"}, "CI_JOB_URL"},
		// Woodpecker
		{"CI_COMMIT_SHA", []string{"CI_COMMIT_SOURCE_BRANCH", "CI_COMMIT_BRANCH"}, "CI_PIPELINE_URL"},
		{"BUILDKITE_COMMIT", []string{"BUILDKITE_BRANCH"}, "BUILDKITE_BUILD_URL"},
		{"CIRCLE_SHA1", []string{"CIRCLE_BRANCH"}, "CIRCLE_BUILD_URL"},
		{"DRONE_COMMIT_SHA", []string{"DRONE_SOURCE_BRANCH", "DRONE_BRANCH"}, "DRONE_BUILD_LINK"},
		{"TRAVIS_COMMIT", []string{"TRAVIS_PULL_REQUEST_BRANCH", "TRAVIS_BRANCH"}, "TRAVIS_BUILD_WEB_URL"},
		{"BITBUCKET_COMMIT", []string{"BITBUCKET_BRANCH"}, ""},
		// Azure Pipelines
		{"BUILD_SOURCEVERSION", []string{"SYSTEM_PULLREQUEST_SOURCEBRANCH", "BUILD_SOURCEBRANCHNAME"}, ""},
		// Jenkins
		{"GIT_COMMIT", []string{"CHANGE_BRANCH", "BRANCH_NAME", "GIT_BRANCH"}, "BUILD_URL"},
	}
}

// FindOrigin says which commit is tested, from the variables of the CI system, and from the
// files of the repository where there is none. It is nil if nothing is known.
func FindOrigin(env []string) *result.Origin {
	value := func(name string) string { return cmdutil.LookupEnv(env, name) }
	origin := &result.Origin{}
	for _, ci := range listCISystems() {
		if value(ci.commit) == "" {
			continue
		}
		origin.Commit = value(ci.commit)
		for _, name := range ci.branches {
			if origin.Branch == "" {
				origin.Branch = value(name)
			}
		}
		origin.Branch = strings.TrimPrefix(origin.Branch, "refs/heads/")
		if ci.url != "" && origin.URL == "" {
			origin.URL = value(ci.url)
		}
	}
	if origin.Commit == "" {
		origin.Commit, origin.Branch = findCheckedOut()
	}
	if origin.URL == "" {
		origin.URL = makeJobPage(value)
	}
	if *origin == (result.Origin{}) {
		return nil
	}
	return origin
}

// makeJobPage returns the page of a job whose CI system gives it in parts only, or "".
func makeJobPage(value func(name string) string) string {
	joined := func(separator string, names ...string) string {
		var parts []string
		for _, name := range names {
			if value(name) == "" {
				return ""
			}
			parts = append(parts, value(name))
		}
		return strings.Join(parts, separator)
	}
	if run := joined("/", "GITHUB_SERVER_URL", "GITHUB_REPOSITORY"); run != "" && value("GITHUB_RUN_ID") != "" {
		return run + "/actions/runs/" + value("GITHUB_RUN_ID")
	}
	if origin := value("BITBUCKET_GIT_HTTP_ORIGIN"); origin != "" && value("BITBUCKET_BUILD_NUMBER") != "" {
		return origin + "/pipelines/results/" + value("BITBUCKET_BUILD_NUMBER")
	}
	project := joined("", "SYSTEM_TEAMFOUNDATIONCOLLECTIONURI", "SYSTEM_TEAMPROJECT")
	if project != "" && value("BUILD_BUILDID") != "" {
		return project + "/_build/results?buildId=" + value("BUILD_BUILDID")
	}
	return ""
}

// findCheckedOut returns the commit and the branch of the repository around the working
// directory, as its files give them: starting git would cost more than the rest. Both are
// empty if there is none, or if it stores its references in another way.
func findCheckedOut() (commit, branch string) {
	dir, err := os.Getwd()
	if err != nil {
		return "", ""
	}
	for {
		if git := findGitDir(filepath.Join(dir, ".git")); git != "" {
			return readHead(git)
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", ""
		}
		dir = above
	}
}

// findGitDir returns the folder with HEAD: .git itself, or the folder that a file of this name
// leads to in a further worktree; "" if there is none.
func findGitDir(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	if info.IsDir() {
		return path
	}
	to, ok := strings.CutPrefix(readFirstLine(path), "gitdir: ")
	if !ok {
		return ""
	}
	return joinPath(filepath.Dir(path), to)
}

// readHead returns the commit of HEAD, and the branch that it is on.
func readHead(git string) (commit, branch string) {
	head := readFirstLine(filepath.Join(git, "HEAD"))
	ref, onBranch := strings.CutPrefix(head, "ref: ")
	if !onBranch {
		return checkHex(head), ""
	}
	branch = strings.TrimPrefix(ref, "refs/heads/")
	common := git
	if to := readFirstLine(filepath.Join(git, "commondir")); to != "" {
		common = joinPath(git, to)
	}
	if commit = checkHex(readFirstLine(filepath.Join(common, filepath.FromSlash(ref)))); commit != "" {
		return commit, branch
	}
	packed, err := os.ReadFile(filepath.Join(common, "packed-refs"))
	if err != nil {
		return "", ""
	}
	for line := range bytes.Lines(packed) {
		if of, name, ok := strings.Cut(strings.TrimSpace(string(line)), " "); ok && name == ref {
			return checkHex(of), branch
		}
	}
	return "", ""
}

// checkHex returns a text that can be the name of a commit, or "".
func checkHex(s string) string {
	const sha1Length, sha256Length = 40, 64
	if len(s) != sha1Length && len(s) != sha256Length || strings.Trim(s, "0123456789abcdef") != "" {
		return ""
	}
	return s
}

func readFirstLine(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return strings.TrimSpace(string(line))
}

func joinPath(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
