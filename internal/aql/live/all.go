package live

// all runs every test that the mode allows, and removes what it created
// whatever happens.
func all(c *collector) {
	defer c.cleaner.cleanUp(true)
	c.phase("reading lists", 0, len(c.catalog.ops))
	c.builder.harvestLists()
	c.watcher.reads()
	c.phase("detecting what changes by itself", 0, len(c.catalog.ops))
	c.steady.watchTime()
	if c.o.Mode != ModeSafe {
		c.watcher.census = c.watcher.takeCensus("")
	}
	// What reads is tried first: what it changes is then known before the run
	// writes anything.
	i := 0
	for _, reads := range []bool{true, false} {
		for _, op := range c.catalog.ops {
			if (op.category == "READ") == reads {
				c.phase("probing "+op.name, i, len(c.catalog.ops))
				operationProbe{c}.probeOperation(op)
				i++
			}
		}
	}
	c.phase("requests", len(c.catalog.ops), len(c.catalog.ops))
	requestProbe{c}.probeRequests()
	requestProbe{c}.stress()
	requestProbe{c}.probeRouting()
	featureProbe{c}.probeLevel2()
	featureProbe{c}.presets()
	featureProbe{c}.pagination()
	c.phase("round trips", len(c.catalog.ops), len(c.catalog.ops))
	cycleProbe{c}.roundTrips()
	executionProbe{c}.executions()
	cycleProbe{c}.cutRoundTrips()
	c.cleaner.cleanUp(false)
	requestProbe{c}.probeConsistency()
	requestProbe{c}.probeSession()
	semanticProbe{c}.semantics()
}
