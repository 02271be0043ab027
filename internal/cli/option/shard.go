package option

import (
	"strconv"
	"strings"

	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/spec/plan"
)

// ShardPick selects the shard to run. The zero value selects everything.
type ShardPick struct {
	Index, Total int    // from 1
	From         string // the variables it was read from; "" means the flag
	Warning      string // about incomplete variables
}

// shardVars are the pairs of variables in which CI systems provide the shard of a
// job. The first complete pair is used.
var shardVars = []struct {
	index, total string
	base         int // index of the first shard
}{
	{"MCPTEST_SHARD_INDEX", "MCPTEST_SHARD_TOTAL", 0}, // for systems without variables, such as GitHub
	{"TEST_SHARD_INDEX", "TEST_TOTAL_SHARDS", 0},      // Bazel
	{"JOB_COMPLETION_INDEX", "MCPTEST_SHARD_TOTAL", 0},
	{"CI_NODE_INDEX", "CI_NODE_TOTAL", 1}, // GitLab
}

// ReadShard reads --shard, then the variables; all says what happens if they are
// incomplete. 1 of 1 is not a shard unless the flag is set, because a record for merging
// must contain its shard.
func ReadShard(flag string, env []string, all string) (ShardPick, error) {
	if flag != "" {
		i, n, _ := strings.Cut(flag, "/")
		index, total, ok := parseShard(i, n, 1)
		if !ok {
			return ShardPick{}, Invalid("--shard %s: expected i/n, such as 2/4 for the second of four shards "+
				"(1/4 is the first), with n up to %d", flag, plan.MaxShards)
		}
		return ShardPick{Index: index, Total: total}, nil
	}
	for _, v := range shardVars {
		i, n := cmdutil.LookupEnv(env, v.index), cmdutil.LookupEnv(env, v.total)
		switch {
		case i == "":
			continue
		case n == "" && v.index == "JOB_COMPLETION_INDEX":
			return ShardPick{Warning: "JOB_COMPLETION_INDEX is set, but the number of shards is not; " + all +
				" (set MCPTEST_SHARD_TOTAL to the Job's completions)"}, nil
		case v.index == "CI_NODE_INDEX" && strings.HasSuffix(cmdutil.LookupEnv(env, "CI_JOB_NAME"), "]"):
			// GitLab's parallel: matrix sets them too, for jobs that run everything.
			return ShardPick{}, nil
		}
		index, total, ok := parseShard(i, n, v.base)
		if !ok {
			return ShardPick{}, Invalid("%s=%s and %s=%s do not name a shard: "+
				"expected an index from %d and a total up to %d; --shard i/n overrides them",
				v.index, i, v.total, n, v.base, plan.MaxShards)
		}
		if total == 1 && v.index == "CI_NODE_INDEX" {
			return ShardPick{}, nil // GitLab sets it for every job
		}
		return ShardPick{Index: index, Total: total, From: v.index + " and " + v.total}, nil
	}
	return ShardPick{}, nil
}

// parseShard reads the number of a shard, which counts from base, and how many there are. The
// index that it returns counts from 1.
func parseShard(i, n string, base int) (index, total int, ok bool) {
	index, err := strconv.Atoi(i)
	if err != nil {
		return 0, 0, false
	}
	total, err = strconv.Atoi(n)
	if err != nil || total > plan.MaxShards {
		return 0, 0, false
	}
	index += 1 - base
	return index, total, 1 <= index && index <= total
}
