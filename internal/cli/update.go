package cli

import "mcptest/internal/cli/option"

// checkUpdate returns an error if --update-snapshots is not allowed or has no effect.
func (f *runFlags) checkUpdate(env []string) error {
	switch {
	case f.allowInCI && !f.updateSnapshots && f.cassettes.Record == "" && !f.upstreams.Recording():
		return option.Invalid("--allow-update-in-ci has an effect only with --update-snapshots, --record and --record-upstream")
	case f.updateSnapshots && f.setupOnly:
		return option.Invalid("--update-snapshots has no effect with --setup-only, which runs no tests")
	case f.updateSnapshots:
		return option.AllowUpdate(env, f.allowInCI, "the snapshots are not updated", "mcptest run --update-snapshots")
	}
	return nil
}
