package option

import (
	"os"
	"path/filepath"
	"testing"

	"mcptest/internal/report/result"
)

const someCommit = "0123456789abcdef0123456789abcdef01234567"

// TestOriginOfCI: each CI system says what it checked out, and where its job is.
func TestOriginOfCI(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, row := range map[string]struct {
		env         []string
		branch, url string
	}{
		"GitHub, pull request": {[]string{
			"GITHUB_SHA=" + someCommit, "GITHUB_HEAD_REF=fix", "GITHUB_REF_NAME=7/merge",
			"GITHUB_SERVER_URL=https://github.com", "GITHUB_REPOSITORY=o/r", "GITHUB_RUN_ID=42",
		}, "fix", "https://github.com/o/r/actions/runs/42"},
		"GitHub, push": {[]string{"GITHUB_SHA=" + someCommit, "GITHUB_HEAD_REF=", "GITHUB_REF_NAME=main"}, "main", ""},
		"GitLab":       {[]string{"CI_COMMIT_SHA=" + someCommit, "CI_COMMIT_REF_NAME=main", "CI_JOB_URL=https://x/1", "CI_PIPELINE_URL=https://x/2"}, "main", "https://x/1"},
		"Woodpecker":   {[]string{"CI_COMMIT_SHA=" + someCommit, "CI_COMMIT_BRANCH=main", "CI_PIPELINE_URL=https://x/2"}, "main", "https://x/2"},
		"Buildkite":    {[]string{"BUILDKITE_COMMIT=" + someCommit, "BUILDKITE_BRANCH=main", "BUILDKITE_BUILD_URL=https://x"}, "main", "https://x"},
		"CircleCI":     {[]string{"CIRCLE_SHA1=" + someCommit, "CIRCLE_BRANCH=main", "CIRCLE_BUILD_URL=https://x"}, "main", "https://x"},
		"Drone":        {[]string{"DRONE_COMMIT_SHA=" + someCommit, "DRONE_BRANCH=main", "DRONE_BUILD_LINK=https://x"}, "main", "https://x"},
		"Travis":       {[]string{"TRAVIS_COMMIT=" + someCommit, "TRAVIS_BRANCH=main", "TRAVIS_BUILD_WEB_URL=https://x"}, "main", "https://x"},
		"Bitbucket": {[]string{
			"BITBUCKET_COMMIT=" + someCommit, "BITBUCKET_BRANCH=main",
			"BITBUCKET_GIT_HTTP_ORIGIN=https://bitbucket.org/o/r", "BITBUCKET_BUILD_NUMBER=9",
		}, "main", "https://bitbucket.org/o/r/pipelines/results/9"},
		"Azure Pipelines": {[]string{
			"BUILD_SOURCEVERSION=" + someCommit, "SYSTEM_PULLREQUEST_SOURCEBRANCH=refs/heads/fix", "BUILD_SOURCEBRANCHNAME=merge",
			"SYSTEM_TEAMFOUNDATIONCOLLECTIONURI=https://dev.azure.com/o/", "SYSTEM_TEAMPROJECT=p", "BUILD_BUILDID=9",
		}, "fix", "https://dev.azure.com/o/p/_build/results?buildId=9"},
		"Jenkins": {[]string{"GIT_COMMIT=" + someCommit, "BRANCH_NAME=main", "BUILD_URL=https://x"}, "main", "https://x"},
	} {
		got := FindOrigin(row.env)
		if want := (result.Origin{Commit: someCommit, Branch: row.branch, URL: row.url}); got == nil || *got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	if got := FindOrigin(nil); got != nil {
		t.Errorf("no repository and no CI system: %+v", got)
	}
}

// TestOriginOfFiles: without a CI system, the files of the repository are read.
func TestOriginOfFiles(t *testing.T) {
	for name, row := range map[string]struct {
		files          map[string]string
		commit, branch string
	}{
		"a branch":          {map[string]string{".git/HEAD": "ref: refs/heads/a/b\n", ".git/refs/heads/a/b": someCommit + "\n"}, someCommit, "a/b"},
		"a detached head":   {map[string]string{".git/HEAD": someCommit + "\n"}, someCommit, ""},
		"packed references": {map[string]string{".git/HEAD": "ref: refs/heads/a\n", ".git/packed-refs": "# pack-refs\n" + someCommit + " refs/heads/a\n"}, someCommit, "a"},
		"a further worktree": {map[string]string{
			".git": "gitdir: ../main/worktrees/w\n", "../main/worktrees/w/HEAD": "ref: refs/heads/w\n",
			"../main/worktrees/w/commondir": "../..\n", "../main/refs/heads/w": someCommit + "\n",
		}, someCommit, "w"},
		"no commit yet":               {map[string]string{".git/HEAD": "ref: refs/heads/a\n"}, "", ""},
		"references stored elsewhere": {map[string]string{".git/HEAD": "ref: refs/heads/.invalid\n", ".git/reftable/tables.list": "x"}, "", ""},
	} {
		dir := filepath.Join(t.TempDir(), "repository")
		for path, text := range row.files {
			path = filepath.Join(dir, filepath.FromSlash(path))
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		t.Chdir(dir)
		if commit, branch := findCheckedOut(); commit != row.commit || branch != row.branch {
			t.Errorf("%s: got %q on %q", name, commit, branch)
		}
	}
}
