package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/report/result"
	"mcptest/internal/run/history"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// shardPick selects the shard to run. The zero value selects everything.
type shardPick struct {
	index, total int    // from 1
	from         string // the variables it was read from; "" means the flag
	warning      string // about incomplete variables
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

// readShard reads --shard, then the variables. 1 of 1 is not a shard unless the flag
// is set, because a record for merging must contain its shard.
func readShard(flag string, env []string) (shardPick, error) {
	if flag != "" {
		i, n, _ := strings.Cut(flag, "/")
		index, err := strconv.Atoi(i)
		total, err2 := strconv.Atoi(n)
		if err != nil || err2 != nil || !(1 <= index && index <= total) || total > plan.MaxShards {
			return shardPick{}, option.Invalid("--shard %s: expected i/n, such as 2/4 for the second of four shards, with n up to %d", flag, plan.MaxShards)
		}
		return shardPick{index: index, total: total}, nil
	}
	for _, v := range shardVars {
		i, n := cmdutil.LookupEnv(env, v.index), cmdutil.LookupEnv(env, v.total)
		switch {
		case i == "":
			continue
		case n == "" && v.index == "JOB_COMPLETION_INDEX":
			return shardPick{warning: "JOB_COMPLETION_INDEX is set, but the number of shards is not; all tests run (set MCPTEST_SHARD_TOTAL to the Job's completions)"}, nil
		case v.index == "CI_NODE_INDEX" && strings.HasSuffix(cmdutil.LookupEnv(env, "CI_JOB_NAME"), "]"):
			// GitLab's parallel: matrix sets them too, for jobs that run everything.
			return shardPick{}, nil
		}
		index, err := strconv.Atoi(i)
		total, err2 := strconv.Atoi(n)
		index += 1 - v.base
		if err != nil || err2 != nil || !(1 <= index && index <= total) || total > plan.MaxShards {
			return shardPick{}, option.Invalid("%s=%s and %s=%s do not name a shard: expected an index from %d and a total up to %d; --shard i/n overrides them", v.index, i, v.total, n, v.base, plan.MaxShards)
		}
		if total == 1 && v.index == "CI_NODE_INDEX" {
			return shardPick{}, nil // GitLab sets it for every job
		}
		return shardPick{index: index, total: total, from: v.index + " and " + v.total}, nil
	}
	return shardPick{}, nil
}

// split reduces the plan to this shard and returns the shard for the record; nil if
// the whole plan is run.
func (f *runFlags) split(s cmdutil.Streams, p *plan.Plan, suites []*suite.Suite) (*result.Shard, error) {
	pick, err := readShard(f.shard, s.Env)
	if err != nil {
		return nil, err
	}
	if pick.warning != "" {
		fmt.Fprintln(s.Err, "mcptest: warning: "+pick.warning)
	}
	if pick.total == 0 || f.setupOnly {
		return nil, nil
	}
	if pick.from != "" {
		fmt.Fprintf(s.Err, "mcptest: shard %d of %d, from %s\n", pick.index, pick.total, pick.from)
	}
	if err := touchShardStatus(s.Env); err != nil {
		return nil, option.Invalid("TEST_SHARD_STATUS_FILE: %v", err)
	}
	digest, err := history.Digest(p, suites)
	if err != nil {
		return nil, option.Invalid("read the suites again: %v", err)
	}
	out := &result.Shard{Index: pick.index, Total: pick.total, Tests: p.Len(), Digest: digest}
	out.Places = p.Shard(pick.index, pick.total, history.Costs(suites))
	if out.Places == nil {
		out.Places = []int{}
	}
	return out, nil
}

// touchShardStatus touches the file that informs Bazel that the program supports sharding.
func touchShardStatus(env []string) error {
	path := cmdutil.LookupEnv(env, "TEST_SHARD_STATUS_FILE")
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	return file.Close()
}
