package probe

import "mcptest/internal/aql/live/guard"

// All runs every test that the mode allows. It always removes what it created.
func All(c *guard.Run) {
	defer c.Cleaner.CleanUp(true)
	c.Phase("reading lists", 0, len(c.Catalog.Operations))
	c.Builder.HarvestLists()
	c.Watcher.Reads()
	c.Phase("detecting what changes by itself", 0, len(c.Catalog.Operations))
	c.Steady.WatchTime()
	if c.Options.Mode != guard.ModeSafe {
		c.Watcher.Census = c.Watcher.TakeCensus("")
	}
	// Operations that only read come first, so that the values they change are known
	// before the run writes anything.
	i := 0
	for _, reads := range []bool{true, false} {
		for _, op := range c.Catalog.Operations {
			if (op.Category == "READ") == reads {
				c.Phase("probing "+op.Name, i, len(c.Catalog.Operations))
				operationProbe{c}.probeOperation(op)
				i++
			}
		}
	}
	c.Phase("requests", len(c.Catalog.Operations), len(c.Catalog.Operations))
	requestProbe{c}.probeRequests()
	requestProbe{c}.stress()
	requestProbe{c}.probeRouting()
	featureProbe{c}.probeLevel2()
	featureProbe{c}.presets()
	featureProbe{c}.pagination()
	c.Phase("round trips", len(c.Catalog.Operations), len(c.Catalog.Operations))
	cycleProbe{c}.roundTrips()
	executionProbe{c}.executions()
	cycleProbe{c}.cutRoundTrips()
	c.Cleaner.CleanUp(false)
	requestProbe{c}.probeConsistency()
	requestProbe{c}.probeSession()
	semanticProbe{c}.semantics()
}
