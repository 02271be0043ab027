package cli

import (
	"fmt"
	"os"

	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/report/result"
	"mcptest/internal/run/history"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// takeShard reduces the plan to the shard that the flags or the environment name, and returns
// the shard for the record; nil if the whole plan is run.
func (f *runFlags) takeShard(s cmdutil.Streams, p *plan.Plan, suites []*suite.Suite) (*result.Shard, error) {
	pick, err := option.ReadShard(f.shard, s.Env, "all tests run")
	if err != nil {
		return nil, err
	}
	if pick.Warning != "" {
		fmt.Fprintln(s.Err, "mcptest: warning: "+pick.Warning)
	}
	if pick.Total == 0 || f.setupOnly {
		return nil, nil
	}
	if pick.From != "" {
		fmt.Fprintf(s.Err, "mcptest: shard %d of %d, from %s\n", pick.Index, pick.Total, pick.From)
	}
	if err := touchShardStatus(s.Env); err != nil {
		return nil, option.Invalid("TEST_SHARD_STATUS_FILE: %v", err)
	}
	digest, err := history.Digest(p, suites)
	if err != nil {
		return nil, option.Invalid("read the suites again: %v", err)
	}
	whole := p.Len() // before the next line reduces the plan
	places := p.Shard(pick.Index, pick.Total, history.Costs(suites))
	return &result.Shard{
		Index:  pick.Index,
		Total:  pick.Total,
		Tests:  whole,
		Digest: digest,
		Places: append([]int{}, places...), // a list also if it is empty
	}, nil
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
