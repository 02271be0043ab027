# `make test` only requires Go and Node.js. `make check` has the checks that
# require other tools (a C compiler for the race detector); .ci/run installs them.

GO      ?= go
NPM     ?= npm
TOOL    := $(GO) tool -modfile=tools/go.mod
SERVERS := testdata/servers
UPSTREAMS := testdata/upstreams
READERS := testdata/consumers
JUDGE   := testdata/conformance
PEERS   := testdata/peers

# npm ci, with up to three tries: most failures are those of the network.
NPM_CI  := n=1; until $(NPM) ci --loglevel=error; do [ $$n -lt 3 ] || exit 1; echo "make: npm ci failed (try $$n of 3), again in 10 s" >&2; n=$$((n + 1)); sleep 10; done
# Prefix of random tests: prints the tests that passed only after a retry
# (internal/dev/flaky), and appends them to the file in MCPTEST_FLAKY.
FLAKY   := notes=$$(mktemp) && trap 'cat "$$notes"; [ -z "$$MCPTEST_FLAKY" ] || cat "$$notes" >>"$$MCPTEST_FLAKY"; rm -f "$$notes"' EXIT && MCPTEST_FLAKY="$$notes"

# Extra flags for go test, e.g.  make test TESTFLAGS='-count=1 -v'
TESTFLAGS ?=
# Number of measurements of each pair of `make bench`.
ROUNDS    ?= 7
# Seed of property tests, for reproducible runs; the default is a random seed.
SEED      ?=
# Number of random runs of `make soak`, and their seed (default: the time).
SOAK_RUNS ?= 1000
SOAK_SEED ?=
# Benchmarks and fuzz targets to run, and the time for each.
BENCH     ?= .
BENCHTIME ?= 1s
FUZZ      ?= ^Fuzz
FUZZTIME  ?= 20s
FUZZPART  ?= 1/1

PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# Most tests wait for the programs that they start: more packages run at a time
# than there are cores, and more tests in each.
CORES := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
WIDE  := -p $(shell expr 2 \* $(CORES)) -parallel $(shell expr 3 \* $(CORES))

# gotestsum prints the line of a package when it is done, and the failed tests at the end;
# go test holds a line back until all packages before it are done. RERUN has its flags.
RERUN   ?=
TESTSUM := $(GO) run gotest.tools/gotestsum@v1.13.0 --format standard-quiet --hide-summary skipped $(RERUN)

PACKAGES = $(shell $(GO) list ./...)
# The packages with property tests: only they have the flag of the seed.
RANDOM = $(shell $(GO) list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' ./... | grep pgregory.net/rapid | cut -d' ' -f1)
# Left out under the race detector, for the same reason as NOT_RACED: hundreds of runs of
# one thread, whose kinds shorter tests of the same packages have, tests whose work is
# done by programs of others (compilers and readers in Node.js), and tests that repeat the live
# runs of other tests with further adapters and servers.
RACE_SKIPS := MaskProperty|IndependentReaders|RequestsFitTheTypesOfTheSDKs|HugeTexts|HazardsAreNotTriggered|ListsAreReadConstantly|RandomRunsHarmNothing|RemovingOnePartOfEveryFixture|FixtureFlipsExactlyItsRow|LargeBundles|VerdictsAreStable|FeaturesConform|ReplayGivesTheSameBundle|SafeModeIgnoresDeclarations|SeventyFiveOperations|ExamplesAsGoTests|DefectsInUnlikelyPlacesAreFlagged
# What is compiled with other flags than the programs is compiled with -trimpath: a new clone
# in another folder then takes from the build cache what has not changed.
RACE = -race -vet=off -trimpath -timeout 30m -p $(shell expr 2 \* $(CORES)) -skip '^Test($(RACE_SKIPS))$$' $(TESTFLAGS)

.DEFAULT_GOAL := help

## help: this list
.PHONY: help
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST) | awk -F': ' '{printf "  make %-12s %s\n", $$1, $$2}'

## build: both commands into bin/
.PHONY: build
build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/ ./cmd/...

## packages: the npm packages and the wheel of this platform, into dist/packages
.PHONY: packages
packages:
	$(GO) run ./internal/dev/packaging

## llms: the documentation as one text for language models, into dist/llms.txt
.PHONY: llms
llms:
	@mkdir -p dist
	tools/llms > dist/llms.txt

## packages-test: install the packages into empty folders, and run the steps of the GitHub Action and the GitLab component (needs npm, Python, curl and jq)
.PHONY: packages-test
packages-test:
	MCPTEST_PACKAGES=1 $(GO) test -count=1 ./internal/dev/packaging

# The last version that this Go compiles. Its first build takes about eight minutes.
GORELEASER := $(GO) run github.com/goreleaser/goreleaser/v2@v2.16.0

## release-check: have goreleaser check its configuration and build a snapshot of all platforms, with their packages, into dist/
.PHONY: release-check
release-check:
	@$(GO) build -o /dev/null ./cmd/...
	MCPTEST_MODULE=1 $(GO) test -count=1 -run '^TestModulePath$$' ./internal/dev/packaging
	$(GORELEASER) check
	$(GORELEASER) release --snapshot --clean
	$(GO) run ./internal/dev/packaging -dist dist -release-url 'http://localhost/release'

## release: draft the release of the tag that is checked out (docs/releasing.md)
.PHONY: release
release:
	$(GORELEASER) release --clean

## test: install the npm test servers, unit and end-to-end tests
# MCPTEST_REQUIRE_SERVERS turns "skip, the server is not installed" into a failure.
# Tests with many inputs use a part of them here, and all in `make deep`. go vet is part
# of `make check`. The packages whose tests take longest are the first, so that the short
# ones run next to them and no package is left to run alone.
SLOW := cli mcpaql/aql run/probe offer/compat mcpaql/aqlcli report client/mcp cli/gen model dev/faults
TEST = -vet=off -timeout 30m $(WIDE) $(TESTFLAGS)
ORDERED := $(SLOW:%=./internal/%) ./...
.PHONY: test
test: servers
	@echo "==> go test ./... (unit and end-to-end; one line a package as it finishes)"
	@export MCPTEST_REQUIRE_SERVERS=1; \
	$(if $(SEED),rc=0; \
	$(TESTSUM) --packages='$(filter-out $(RANDOM),$(shell $(GO) list $(ORDERED)))' -- $(TEST) || rc=1; \
	$(TESTSUM) --packages='$(RANDOM)' -- $(TEST) -args -rapid.seed=$(SEED) || rc=1; \
	exit $$rc,$(TESTSUM) --packages='$(ORDERED)' -- $(TEST))

## quick: build, vet, the structure of the code, and the packages that differ from BASE; needs only Go, under a minute
.PHONY: quick
BASE ?=
quick:
	@GO='$(GO)' tools/quick $(BASE)

## module: set the path of the Go module: MODULE=github.com/OWNER/mcptest
.PHONY: module
module:
	@tools/module '$(MODULE)'

## check: test, then vet, format, lint, generated files, race, cross-compiling
.PHONY: check
check: test vet fmt lint drift race cross

## servers: the npm packages of the tests, from their lock files: real MCP servers, readers of the report formats
.PHONY: servers
servers: $(SERVERS)/node_modules/.installed $(UPSTREAMS)/node_modules/.installed $(READERS)/node_modules/.installed

%/node_modules/.installed: %/package.json %/package-lock.json %/.npmrc
	@command -v node >/dev/null && command -v $(NPM) >/dev/null || { echo "make: node and npm are needed for the end-to-end tests: install Node.js 20 or newer" >&2; exit 1; }
	@node -e 'const v = +process.versions.node.split(".")[0]; if (v < 20) { console.error("make: Node.js " + process.version + " is too old for the test servers: 20 or newer is needed"); process.exit(1) }'
	@echo "==> npm ci in $*"
	@cd $* && $(NPM_CI)
	@touch $@

## conformance: the official MCP conformance suite judges mcptest as a client, and its mock as a server and as a cassette
.PHONY: conformance
conformance: $(JUDGE)/node_modules/.installed
	$(GO) run ./internal/dev/conformance

$(JUDGE)/node_modules/.installed: $(JUDGE)/package.json $(JUDGE)/package-lock.json $(JUDGE)/.npmrc
	@command -v $(NPM) >/dev/null || { echo "make: npm is needed to install the conformance suite" >&2; exit 1; }
	@echo "==> npm ci in $(JUDGE)"
	@cd $(JUDGE) && $(NPM_CI)
	@touch $@

## windows-root: a folder with Debian, Wine 10 and Node.js for Windows, outside of the checkout (root on x86-64 Linux; 2 GB, network)
.PHONY: windows-root windows
windows-root:
	@tools/windows-root

## windows: both programs and their scripts, built for Windows and run with Wine; SCRIPTS=area/name selects some
SCRIPTS ?=
windows:
	@tools/windows '$(SCRIPTS)'

## browser: the HTML report and the page of mcptest ui in a real Chromium (needs one installed)
.PHONY: browser
browser: servers
	MCPTEST_REQUIRE_SERVERS=1 MCPTEST_REQUIRE_BROWSER=1 $(GO) test -count=1 -run 'InABrowser$$' -v ./internal/report ./internal/cli

## pictures: write the pictures of the README from what the program prints (needs Chromium)
.PHONY: pictures
pictures: servers
	MCPTEST_PICTURES=1 $(GO) test -count=1 -run '^TestPictures$$' ./internal/cli
	shots=$$(mktemp -d) && MCPTEST_PICTURES=1 MCPTEST_REQUIRE_BROWSER=1 MCPTEST_FLOWS=picture MCPTEST_SCREENSHOTS=$$shots \
		$(GO) test -count=1 -run '^TestUIInABrowser$$' ./internal/cli; rc=$$?; rm -rf "$$shots"; exit $$rc

## vet: go vet
.PHONY: vet
vet:
	@echo "==> go vet ./..."
	@$(GO) vet ./...

## fmt: list the files that gofumpt would change; fails when there are any
.PHONY: fmt
fmt:
	@echo "==> gofumpt"
	@files=$$($(TOOL) gofumpt -l $$(git -c safe.directory='*' ls-files '*.go')) || exit 1; \
	if [ -n "$$files" ]; then echo "not formatted (gofumpt -w FILE):" >&2; echo "$$files" >&2; exit 1; fi

## lint: golangci-lint with .golangci.yml (its first build takes minutes)
.PHONY: lint
lint:
	@echo "==> golangci-lint"
	@$(TOOL) golangci-lint run ./...

## generate: regenerate the generated files
.PHONY: generate
generate:
	$(GO) generate ./...

## drift: fail if go.mod or a generated file is out of date
.PHONY: drift
drift:
	@echo "==> go.mod"
	@$(GO) mod tidy -diff
	@echo "==> generated files"
	@state() { git -c safe.directory='*' status --porcelain; git -c safe.directory='*' diff; }; \
	before=$$(state) || exit 1; \
	$(GO) generate ./... || exit 1; \
	if [ "$$before" != "$$(state)" ]; then \
		echo "go generate changed files (commit what it wrote):" >&2; \
		git -c safe.directory='*' status --short >&2; exit 1; fi

## race: unit and end-to-end tests under the race detector (needs a C compiler)
.PHONY: race
# Tests that hold a figure of time are left to
# `make test`: the detector makes everything several times slower. So are the
# packages whose tests run whole programs, compiled without the detector, or only read
# files, and those that compute and start no goroutine. Random tests have a quarter of
# their rounds.
NOT_RACED := %/internal/cli %/internal/cli/gen %/internal/mcpaql/aqlcli %/internal/dev/arch %/internal/dev/faults %/internal/dev/packaging \
	%/internal/offer/compat
race: servers
	@echo "==> go test -race, all packages but $(patsubst \%/%,%,$(NOT_RACED))"
	@export MCPTEST_REQUIRE_SERVERS=1 CGO_ENABLED=1; rc=0; \
	$(TESTSUM) --packages='$(filter-out $(if $(SEED),$(RANDOM)) $(NOT_RACED),$(PACKAGES))' -- $(RACE) || rc=1; \
	$(if $(SEED),$(TESTSUM) --packages='$(filter-out $(NOT_RACED),$(RANDOM))' -- $(RACE) -args -rapid.seed=$(SEED) -rapid.checks=25 || rc=1;) \
	exit $$rc

## cross: compile for linux, darwin, windows on amd64 and arm64, and vet for each system
# No file is for one architecture only, so vet sees the same code on both.
.PHONY: cross
cross:
	@set -e; for p in $(PLATFORMS); do \
		echo "==> build for $$p"; \
		CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -trimpath -o /dev/null ./cmd/...; \
		case $$p in */arm64) continue;; esac; \
		echo "==> vet for $$p"; \
		CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) vet -trimpath ./...; \
	done

## bench: cost of a test, a start, a load and memory, compared with the minimum and, with BASE=file, with another build (docs/spec/performance.md)
.PHONY: bench
# Tests that compare times run one package at a time.
TIMED_PACKAGES := base/source mcpaql/aql report
TIMED_TESTS    := Cost|LoadIsFast|ManyErrorTests|BigRunsRenderFast
bench: servers
	MCPTEST_BENCH=1 MCPTEST_BENCH_BASE='$(BASE)' MCPTEST_BENCH_ROUNDS='$(ROUNDS)' MCPTEST_REQUIRE_SERVERS=1 $(GO) test -count=1 -p 1 -timeout 30m -v -run '^Test($(TIMED_TESTS))$$' ./internal/dev/bench $(TIMED_PACKAGES:%=./internal/%)

## bench-peers: the same suites with other runners (Linux on x86-64; 500 MB from npm); WRITE=1 writes the table to docs/spec/peers.md
.PHONY: bench-peers
bench-peers: servers $(PEERS)/node_modules/.installed
	MCPTEST_BENCH_PEERS='$(if $(WRITE),write,print)' MCPTEST_BENCH_ROUNDS='$(ROUNDS)' $(GO) test -count=1 -timeout 60m -v -run '^TestPeers$$' ./internal/dev/bench

## gobench: the Go benchmarks of the packages; BENCH=regexp BENCHTIME=3s
.PHONY: gobench
gobench:
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime '$(BENCHTIME)' -benchmem ./...

# Tests that `make test` runs in part: packages and names.
DEEP_PACKAGES := base/jsonschema/engine cli cli/gen dev/arch mcpaql/aql mcpaql/aqlcli offer/compat offer/contain report report/result run/leak run/openings run/probe tape/tee
DEEP_TESTS    := DeepScripts|UpstreamFaults|ClientsOfCassettes|Examples|InitOnRealServers|GitLabFileForAdapters|GitHubWorkflowForAdapters|RandomRunsHarmNothing|DefectsFlipTheirRows|HazardsAreNotTriggered|SafeModeIgnoresDeclarations|NothingOfOthersIsTouched|ReplayGivesTheSameBundle|LargeBundles|KilledRunIsCleanedUp|MatcherArguments|BigRunsRenderFast|ManyCases|RandomPairs|SchemasOfServers|FormatsAgree|ErrorsAgree|LargeMessages|MillionFrames|TypeScriptSDKAgrees|GoSDKAgrees|DefectsAreFlagged|Heaps|LeaksOfRuntimes|ScriptedSuitesAreTheSame|HeldBackDefects|LinkerDropsMethods|InitializationIsSmall|FixtureExamples|ExplainKnowsEveryWord|DatabaseExampleOnSQLite|SoundAdaptersAreNotAccused|NoGreenOverNothing|AgreesWithClients

## deep: run the tests that `make test` runs in part on all their inputs
.PHONY: deep
deep: servers
	MCPTEST_DEEP=1 MCPTEST_REQUIRE_SERVERS=1 $(GO) test -vet=off -count=1 -timeout 40m -parallel $(shell expr 3 \* $(CORES)) -run '^Test($(DEEP_TESTS))$$' $(DEEP_PACKAGES:%=./internal/%)

## releases: compare the releases of real servers (docs/spec/releases.md; 20 minutes, network); FOLDER keeps the results
.PHONY: releases locks replays
FOLDER ?= $(or $(TMPDIR),/tmp)/mcptest-releases
releases:
	@tools/releases '$(FOLDER)'

## locks: lock 20 real servers 20 times over each transport (docs/spec/releases.md; network)
locks:
	@tools/locks '$(FOLDER)-locks' 20

## replays: record 20 real servers, replay them without the servers and compare (docs/spec/cassettes.md; network, jq)
replays:
	@tools/replays '$(FOLDER)-locks'

## openings: open published servers with the clients of the SDKs and with the replay (docs/spec/check.md; network); ONLY=name,name selects some
.PHONY: openings
ONLY ?=
openings: servers
	@tools/openings '$(FOLDER)-openings' '$(ONLY)'

## faults: test the program with every fault (docs/spec/faults.md), or FAULTPART=1/3 of them
.PHONY: faults
FAULTPART ?= 1/1
faults:
	@$(FLAKY) MCPTEST_FAULTS=$(FAULTPART) $(GO) test -count=1 -timeout 20m ./internal/dev/faults -run '^Test(Faults|ReplayOfFaults|Page|Table)$$'

## faults-table: write the table of faults to dist/faults.md
.PHONY: faults-table
faults-table:
	@mkdir -p dist
	@$(GO) test -count=1 ./internal/dev/faults -run '^TestPage$$' -args -page '$(CURDIR)/dist/faults.md' >/dev/null && echo dist/faults.md

## soak: SOAK_RUNS random runs (1000) with faults, signals, restarts and parallelism, and as many interrupted ones; SOAK_SEED=n repeats some
.PHONY: soak
soak:
	@$(FLAKY) MCPTEST_SOAK='$(SOAK_RUNS)' MCPTEST_SOAK_SEED='$(SOAK_SEED)' $(GO) test -count=1 -timeout 4h -v -run '^TestSoak$$' ./internal/dev/faults
	@$(FLAKY) MCPTEST_SOAK='$(SOAK_RUNS)' MCPTEST_SOAK_SEED='$(SOAK_SEED)' $(GO) test -count=1 -timeout 4h -v -run '^TestInterruptedRunsLeaveNothing$$' ./internal/cli

## fuzz: each fuzz target for FUZZTIME (20s); FUZZ=regexp or FUZZPART=1/3 selects some
.PHONY: fuzz
fuzz:
	@GO='$(GO)' tools/fuzz '$(FUZZ)' '$(FUZZTIME)' '$(FUZZPART)'

## clean: remove the files of builds and npm install
.PHONY: clean
clean:
	rm -rf bin $(SERVERS)/node_modules $(UPSTREAMS)/node_modules $(READERS)/node_modules $(JUDGE)/node_modules $(PEERS)/node_modules
