/** A test whose amount of work can be chosen; `npm run torture` runs it with more of it. */
export interface SizedTest {
  /** What is done, and what its size counts. */
  readonly what: string;
  readonly files: readonly string[];
  /** In `npm test`; 0 if its files do not run there at all. */
  readonly test: number;
  /**
   * In `npm run torture -- --short`, which `.ci/run` starts; 0 if its files do not run there: a little more than
   * `npm test` has just run would only repeat it.
   */
  readonly short: number;
  /** In `npm run torture -- NAME`. */
  readonly long: number;
}

export type SizedName = keyof typeof SIZED_TESTS;

/** The sizes of all tests that have one, so that they can be compared. */
export const SIZED_TESTS = {
  arguments: {
    what: "A tool call with long arguments in pieces of 4 characters, what of it is parsed, and the memory: characters",
    files: ["test/agent/models/streamed-arguments.test.ts"],
    test: 0,
    short: 10_000,
    long: 1_000_000,
  },
  benches: {
    what: "Benches at a small scale, so that each still measures: benches",
    files: ["test/bench/benches.test.ts"],
    test: 0,
    short: 3,
    long: 100,
  },
  "changed-files": {
    what: "Files that a person changes while an exchange is killed and continued: kills",
    files: ["test/agent/exchange/changed-files-killed.test.ts"],
    test: 2,
    short: 0,
    long: 200,
  },
  "changed-modes": {
    what: "Changes of files that a person changed before: permission modes in which each kind is refused",
    files: ["test/agent/exchange/changed-files.test.ts"],
    test: 1,
    short: 4,
    long: 4,
  },
  claimers: {
    what: "Twelve claimers of three nodes on one queue: exchanges that are queued",
    files: ["test/store/records/exchanges/claimers.test.ts"],
    test: 24,
    short: 0,
    long: 2000,
  },
  consent: {
    what: "A question of a sub-agent at depth 2 that is answered over HTTP after its terminal was killed: rounds",
    files: ["test/cli/consented.test.ts"],
    test: 0,
    short: 1,
    long: 1,
  },
  "cut-streams": {
    what: "Streams of four APIs whose connection is cut between two events or within one: cuts of each",
    files: ["test/agent/exchange/cut-streams.test.ts"],
    test: 2,
    short: 0,
    long: 3000,
  },
  escapes: {
    what: "Random repositories, and commands in the sandbox that leave programs for git, editors and shells there: repositories",
    files: ["test/agent/sandbox/escapes.test.ts"],
    test: 1,
    short: 3,
    long: 300,
  },
  families: {
    what: "Random programs of forks, exchanges, branches, imports, copies, deletions and repairs, compared with sessions that share nothing: families",
    files: ["test/store/forks/random.test.ts"],
    test: 0,
    short: 2,
    long: 300,
  },
  syncs: {
    what: "Random lives of sessions in two or three databases that are synced: lives",
    files: ["test/store/portable/sync-random.test.ts"],
    test: 1,
    short: 0,
    long: 200,
  },
  "sync-writes": {
    what: "Syncs that are killed before each of their writes: writes",
    files: ["test/store/portable/sync-killed.test.ts"],
    test: 0,
    short: 3,
    long: 120,
  },
  "sync-kills": {
    what: "Two runs of sync that are killed while somebody writes: rounds",
    files: ["test/cli/sync.test.ts"],
    test: 1,
    short: 0,
    long: 100,
  },
  forks: {
    what: "Forks of a session and of each other, deleted in random order: forks",
    files: ["test/store/forks/fork-session.test.ts", "test/store/forks/killed.test.ts"],
    test: 10,
    short: 0,
    long: 100,
  },
  "family-kills": {
    what: "Kills before each write of a fork and of a deletion whose rows are shared: writes at most",
    files: ["test/store/forks/killed.test.ts"],
    test: 1,
    short: 300,
    long: 100,
  },
  "fallback-lives": {
    what: "Threads whose models fail and return, with providers that refuse what the real ones do: threads",
    files: ["test/agent/prefix/fallback-lives.test.ts"],
    test: 2,
    short: 0,
    long: 1000,
  },
  failover: {
    what: "A PostgreSQL that is killed after its standby hung and waiting commits were ended, and the standby in its place: rounds",
    files: ["test/store/postgres/failover.test.ts"],
    test: 0,
    short: 1,
    long: 30,
  },
  history: {
    what: "Four processes that add to one history while each of them trims it: rounds",
    files: ["test/cli/chat/history-processes.test.ts"],
    test: 0,
    short: 5,
    long: 500,
  },
  "late-sizes": {
    what: "An answer on a terminal whose size changes, is learned and read in an order by chance: orders, of three kinds of terminals",
    files: ["test/cli/terminal/late-sizes.test.ts"],
    test: 25,
    short: 100,
    long: 50_000,
  },
  markdown: {
    what: "Random Markdown that arrives in random pieces: texts",
    files: ["test/cli/terminal/markdown-stream.test.ts"],
    test: 40,
    short: 120,
    long: 50_000,
  },
  network: {
    what: "A client and an EventSource over connections that break: messages",
    files: ["test/http/broken-network.test.ts"],
    test: 0,
    short: 400,
    long: 100_000,
  },
  "plan-deaths": {
    what: "Runs of a plan whose process is killed before, within and after each of its writes: moments",
    files: ["test/agent/plans/killed.test.ts"],
    test: 0,
    short: 3,
    long: 3,
  },
  "plan-writes": {
    what: "Runs of a plan whose process is killed at a write, on the engine of the run: writes, each before, within and after",
    files: ["test/agent/plans/killed-points.test.ts"],
    test: 0,
    short: 2,
    long: 78,
  },
  "real-plans": {
    what: "Plans of spec-kit, Kiro and Task Master that are imported and run, each with --parallel 1 and 4: plans",
    files: ["test/agent/plans/imported.test.ts"],
    test: 1,
    short: 0,
    long: 12,
  },
  copy: {
    what: "A file to PostgreSQL and back, each copy killed on the way: sessions, from 1,000 on with 100 messages each",
    files: ["test/cli/copy/copy.test.ts"],
    test: 0,
    short: 24,
    long: 1100,
  },
  "endless-files": {
    what: "Commands whose output cannot be written, or that are given a file without an end: commands of each",
    files: ["test/cli/endless.test.ts"],
    test: 0,
    short: 8,
    long: 8,
  },
  events: {
    what: "Lists made of the events of all sessions, by readers that change node while nodes are killed: operations",
    files: ["test/http/events/random.test.ts"],
    test: 0,
    short: 20,
    long: 10_000,
  },
  "control-files": {
    what: "Protected names in another spelling, in folders and as links: places of each, of four",
    files: ["test/agent/tools/control-files.test.ts"],
    test: 1,
    short: 0,
    long: 4,
  },
  damages: {
    what: "Damages planted in sessions, their checkpoints and messages",
    files: ["test/store/verify/damages.test.ts"],
    test: 3,
    short: 10,
    long: 400,
  },
  deaths: {
    what: "Random lives of a session whose process dies, stops and fails at any write of an exchange: lives of 12 exchanges",
    files: ["test/agent/exchange/random-deaths.test.ts"],
    test: 3,
    short: 0,
    long: 3000,
  },
  "mcp-beside": {
    what: "Kills of a process that continues a task beside a call whose outcome is unknown: moments",
    files: ["test/agent/mcp/held.test.ts"],
    test: 0,
    short: 2,
    long: 16,
  },
  "mcp-writes": {
    what: "Calls of MCP servers whose process is killed before and after each of its writes: moments",
    files: ["test/agent/mcp/killed.test.ts"],
    test: 2,
    short: 0,
    long: 32,
  },
  "mcp-lives": {
    what: "Random lives of a session with MCP servers and hooks, whose processes are killed: lives of 7 exchanges",
    files: ["test/agent/mcp/random-lives.test.ts"],
    test: 1,
    short: 0,
    long: 60,
  },
  "deleted-meanwhile": {
    what: "Every call of a session while the session is deleted, at random moments: rounds",
    files: ["test/http/deleted-meanwhile.test.ts"],
    test: 1,
    short: 0,
    long: 200,
  },
  delta: {
    what: "Graphs with delta channels, compared with LangGraph's MemorySaver: exchanges",
    files: ["test/agent/graph/delta-channel.test.ts"],
    test: 4,
    short: 0,
    long: 12,
  },
  "document-blocks": {
    what: "Blocks of commands of the documents, pasted into a shell: blocks",
    files: ["test/e2e/document-blocks.test.ts"],
    test: 4,
    short: 100,
    long: 100,
  },
  documents: {
    what: "Texts that are nearly plans, read and checked by Reprise and by another validator; YAML at its limits",
    files: [
      "test/artifacts/agreement.test.ts",
      "test/artifacts/fuzz.test.ts",
      "test/artifacts/sources/json-source.test.ts",
      "test/artifacts/sources/yaml-source.test.ts",
    ],
    test: 100,
    short: 1000,
    long: 200_000,
  },
  "exchange-lives": {
    what: "Random lives of a session's exchanges and questions, compared with a model: lives of 30 steps",
    files: ["test/store/records/exchanges/random-lives.test.ts"],
    test: 3,
    short: 0,
    long: 2000,
  },
  exchanges: {
    what: "Nodes of a service that are killed, frozen and ended while they answer messages and ask questions: rounds",
    files: ["test/torture/exchanges.test.ts", "test/torture/exchanges-patched.test.ts"],
    test: 0,
    short: 2,
    long: 200,
  },
  foreign: {
    what: "Graphs of other libraries, compared with LangGraph's MemorySaver state by state: durabilities of each",
    files: [
      "test/langgraph/foreign/agents.test.ts",
      "test/langgraph/foreign/changes.test.ts",
      "test/langgraph/foreign/graphs.test.ts",
    ],
    test: 1,
    short: 3,
    long: 3,
  },
  "git-set-ups": {
    what: "Repositories whose configuration makes git run what a command in the sandbox wrote there: kinds",
    files: ["test/agent/sandbox/escapes.test.ts"],
    test: 3,
    short: 12,
    long: 12,
  },
  "graph-kinds": {
    what: "A process that is killed before a graph's first checkpoint, or while a graph within its node runs a tool: kinds of inputs, and of graphs",
    files: ["test/agent/graph/killed.test.ts", "test/agent/graph/kept-input.test.ts"],
    test: 2,
    short: 10,
    long: 10,
  },
  header: {
    what: "Wrong bits of a database's header: bits of each byte",
    files: ["test/store/crash/header.test.ts"],
    test: 1,
    short: 0,
    long: 8,
  },
  "many-files": {
    what: "A command in the sandbox that hides programs for git and shells among many files: files",
    files: ["test/agent/sandbox/many-files.test.ts"],
    test: 0,
    short: 205_000,
    long: 2_000_000,
  },
  hostile: {
    what: "Requests that no client sends, over real sockets",
    files: ["test/http/hostile.test.ts"],
    test: 0,
    short: 200,
    long: 20_000,
  },
  "kill-compaction": {
    what: "A command line that is killed while it summarises or prunes: kills",
    files: ["test/agent/compaction/killed.test.ts"],
    test: 0,
    short: 4,
    long: 100,
  },
  "kill-exchange": {
    what: "A command line that is killed at any moment of an exchange: kills",
    files: ["test/e2e/kill-exchange.test.ts"],
    test: 1,
    short: 3,
    long: 200,
  },
  "kill-graph": {
    what: "A program with a graph of its own that is killed while it stores checkpoints: kills",
    files: ["test/langgraph/foreign/killed.test.ts"],
    test: 2,
    short: 0,
    long: 70,
  },
  "kill-server": {
    what: "A service that is killed while it is written to: kills",
    files: ["test/e2e/kill-server.test.ts"],
    test: 0,
    short: 4,
    long: 200,
  },
  "kill-writes": {
    what: "Kills among parallel writes whose files then change",
    files: ["test/e2e/kill-writes.test.ts"],
    test: 0,
    short: 3,
    long: 200,
  },
  "prefix-lives": {
    what: "Random lives of threads whose model binds its reasoning to all that came before: lives",
    files: ["test/agent/prefix/lives.test.ts", "test/agent/prefix/switch-lives.test.ts"],
    test: 2,
    short: 0,
    long: 500,
  },
  "killed-lives": {
    what: "Lives of a thread whose processes are killed at each write of an exchange, and continued by others: lives, a quarter of them on PostgreSQL",
    files: ["test/agent/prefix/killed-lives.test.ts"],
    test: 0,
    short: 1,
    long: 40,
  },
  prices: {
    what: "Prices of sessions with a prompt cache against those that are kept: sessions",
    files: ["test/agent/prefix/prices.test.ts"],
    test: 0,
    short: 3,
    long: 9,
  },
  "quoted-secrets": {
    what: "Errors of a provider that quote secrets: quotes",
    files: [
      "test/agent/exchange/provider-reasons.test.ts",
      "test/cli/failing-model.test.ts",
      "test/http/provider-reasons.test.ts",
    ],
    test: 12,
    short: 1000,
    long: 1000,
  },
  "damaged-histories": {
    what: "Histories of other programs that are truncated or damaged, and one with many lines: files",
    files: ["test/compat/histories/damaged.test.ts"],
    test: 30,
    short: 100,
    long: 20_000,
  },
  "dying-writes": {
    what: "A process that dies before and after a write of an exchange that asks a person: the part of its writes, in percent",
    files: ["test/agent/exchange/permissions.test.ts", "test/agent/exchange/questions.test.ts"],
    test: 10,
    short: 100,
    long: 100,
  },
  "judged-calls": {
    what: "Calls with random modes, rules, personas and folders: what is explained and what happens",
    files: ["test/agent/exchange/judged.test.ts"],
    test: 20,
    short: 60,
    long: 6000,
  },
  layers: {
    what: "Rules that are added to a layer that only restricts: decisions before and after",
    files: ["test/rules/permissions/decide.test.ts"],
    test: 800,
    short: 2500,
    long: 200_000,
  },
  "large-messages": {
    what: "A session of messages of 1 MiB, read in several answers: messages",
    files: ["test/http/wire.test.ts"],
    test: 0,
    short: 12,
    long: 300,
  },
  "large-values": {
    what: "Large values of a graph's state, what an edit of each costs, and each compared with LangGraph's MemorySaver: kinds",
    files: ["test/langgraph/large-values.test.ts"],
    test: 0,
    short: 100,
    long: 100,
  },
  "feed-cuts": {
    what: "A reader of the live feed whose connections to two nodes are cut: cuts",
    files: ["test/http/live/cut-connections.test.ts"],
    test: 40,
    short: 0,
    long: 1000,
  },
  "live-cuts": {
    what: "Readers of the live feed whose connections are cut, of real exchanges on nodes that are killed: cuts",
    files: ["test/torture/live-cuts.test.ts"],
    test: 0,
    short: 25,
    long: 1000,
  },
  locked: {
    what: "A lock that another program holds for longer than a write waits: milliseconds of that wait",
    files: ["test/store/sqlite/failures.test.ts"],
    test: 2000,
    short: 0,
    long: 5000,
  },
  machines: {
    what: "A command line that is killed or frozen during its answer, and another machine that waits for its lease to expire (30 s): rounds",
    files: ["test/store/postgres/machines.test.ts"],
    test: 0,
    short: 0,
    long: 3,
  },
  "many-commands": {
    what: "Command lines that are started at once on one SQLite file, a fifth of them exchanges",
    files: ["test/cli/many-commands.test.ts"],
    test: 5,
    short: 0,
    long: 100,
  },
  "many-writers": {
    what: "Processes that append to one session at once: messages of each",
    files: [
      "test/store/records/leases/processes.test.ts",
      "test/store/records/messages/append.test.ts",
    ],
    test: 10,
    short: 25,
    long: 500,
  },
  nodes: {
    what: "64 writers and 4 readers on two services and one PostgreSQL: messages of each writer",
    files: ["test/store/postgres/services.test.ts"],
    test: 0,
    short: 5,
    long: 200,
  },
  "page-list": {
    what: "The list of sessions in the web page, which is scrolled to its end: sessions",
    files: ["test/web/browser/list.test.ts"],
    test: 0,
    short: 500,
    long: 10_000,
  },
  "page-tabs": {
    what: "Random orders in which tabs of the web page open, hide, close and lose what they read: orders with the browser's locks, and without any",
    files: ["test/web/streams.test.ts"],
    test: 4,
    short: 20,
    long: 4000,
  },
  "plan-kills": {
    what: "Runs of a plan of 23 phases with --parallel 4, killed at random while another process answers, on both engines: kills",
    files: ["test/torture/plan-kills.test.ts"],
    test: 0,
    short: 2,
    long: 200,
  },
  "plan-lives": {
    what: "Random lives of runs that are answered, stopped, tried again, killed and frozen, against a reference: lives",
    files: ["test/agent/plans/random-lives.test.ts"],
    test: 1,
    short: 3,
    long: 1500,
  },
  "plan-schedule": {
    what: "Random plans whose phases fail, ask, and lose their process: plans",
    files: ["test/plans/schedule.test.ts"],
    test: 300,
    short: 800,
    long: 10_000,
  },
  pooler: {
    what: "PostgreSQL is stopped at once behind the real pgbouncer in transaction mode, three times from 1,000 on: acknowledged appends before",
    files: ["test/store/postgres/pooler.test.ts"],
    test: 0,
    short: 100,
    long: 1000,
  },
  "power-loss": {
    what: "A killed process's files, damaged at random positions and opened again: images for each kind of history",
    files: ["test/store/crash/power-loss.test.ts"],
    test: 2,
    short: 15,
    long: 5000,
  },
  programs: {
    what: "Random programs of two savers on one database, compared with LangGraph's MemorySaver: programs",
    files: ["test/langgraph/foreign/programs.test.ts"],
    test: 1,
    short: 3,
    long: 1000,
  },
  "real-clients": {
    what: "What the clients of real providers leave, verified: providers",
    files: ["test/cli/verify-real.test.ts"],
    test: 0,
    short: 2,
    long: 2,
  },
  repair: {
    what: "Random damage of a session's messages, found and repaired",
    files: ["test/store/verify/random.test.ts", "test/store/verify/repair.test.ts"],
    test: 6,
    short: 0,
    long: 1000,
  },
  restarts: {
    what: "PostgreSQL crashes under load and is started again: crashes",
    files: ["test/store/postgres/restarts.test.ts"],
    test: 0,
    short: 2,
    long: 20,
  },
  screens: {
    what: "The size of a terminal changes at random while a screen draws, and a terminal takes nothing: lives of two programs",
    files: ["test/torture/screen.test.ts"],
    test: 0,
    short: 2,
    long: 100,
  },
  "setup-apis": {
    what: "Setup in a terminal, then a conversation with the provider: APIs",
    files: ["test/cli/setup.test.ts"],
    test: 2,
    short: 0,
    long: 4,
  },
  "several-copies": {
    what: "Copies of LangGraph's database at the same time: threads of 70 checkpoints",
    files: ["test/compat/langgraph/two-copies.test.ts"],
    test: 0,
    short: 4,
    long: 4,
  },
  "state-table": {
    what: "Random orders of the state table's actions",
    files: ["test/conformance/state-table.test.ts"],
    test: 5,
    short: 20,
    long: 4000,
  },
  outages: {
    what: "A node whose PostgreSQL is away for seconds while 10 exchanges run: outages of another length each",
    files: ["test/store/postgres/outages.test.ts"],
    test: 0,
    short: 1,
    long: 16,
  },
  "shell-lines": {
    what: "Lines that are read as plain words, compared with bash and sh: lines",
    files: ["test/workspace/commands/plain-line.test.ts"],
    test: 500,
    short: 5000,
    long: 200_000,
  },
  stopped: {
    what: "Exchanges whose process is stopped at a random moment, replaced and continued",
    files: [
      "test/store/records/leases/random-stops.test.ts",
      "test/agent/exchange/late-writes.test.ts",
    ],
    test: 0,
    short: 4,
    long: 60,
  },
  "undo-killed": {
    what: "A process that is killed among changes of random files, which are then undone, redone and undone: changes",
    files: ["test/workspace/undo/killed.test.ts"],
    test: 0,
    short: 12,
    long: 500,
  },
  texts: {
    what: "Random texts and lists that are stored and read back",
    files: [
      "test/agent/tools/boundary.test.ts",
      "test/cli/paste-reader.test.ts",
      "test/http/messages.test.ts",
      "test/store/sql-json.test.ts",
      "test/store/records/messages/append.test.ts",
      "test/store/records/sessions/list.test.ts",
    ],
    test: 3,
    short: 15,
    long: 1000,
  },
  threads: {
    what: "Random threads, compared with LangGraph's MemorySaver at each step",
    files: [
      "test/langgraph/random-threads.test.ts",
      "test/langgraph/random-updates.test.ts",
      "test/langgraph/task-paths.test.ts",
      "test/agent/prune/prune.test.ts",
    ],
    test: 1,
    short: 3,
    long: 200,
  },
  search: {
    what: "Messages with CJK, code, emoji and right-to-left text, of which a search finds what a scan finds",
    files: ["test/store/records/search/search.test.ts"],
    test: 100,
    short: 700,
    long: 10_000,
  },
  "search-changes": {
    what: "Random changes of sessions between searches that find what a scan finds: steps",
    files: ["test/store/records/search/random.test.ts"],
    test: 120,
    short: 300,
    long: 20_000,
  },
  "search-families": {
    what: "Random changes of sessions and their forks, each followed by a search that finds what a scan finds: changes",
    files: ["test/store/records/search/families.test.ts"],
    test: 25,
    short: 100,
    long: 5000,
  },
  "search-writes": {
    what: "Kills before each write of indexing what is new: writes at most",
    files: ["test/store/records/search/killed.test.ts"],
    test: 1,
    short: 300,
    long: 100,
  },
  "search-killed": {
    what: "Pairs of processes that are killed while they index: kills",
    files: ["test/store/records/search/killed.test.ts"],
    test: 1,
    short: 5,
    long: 200,
  },
  "tool-exchanges": {
    what: "The bytes of the file that an exchange with tools takes: exchanges among which they are divided",
    files: ["test/agent/exchange/cost.test.ts"],
    test: 12,
    short: 12,
    long: 50,
  },
  transfer: {
    what: "Random sessions that are exported and imported, and exports that are cut or changed",
    files: ["test/store/portable/refusals.test.ts", "test/store/portable/round-trip.test.ts"],
    test: 1,
    short: 3,
    long: 200,
  },
} as const satisfies Readonly<Record<string, SizedTest>>;

/** What `npm test` leaves to the tortures: much work for what changes rarely. */
export const ONLY_TORTURE = {
  "agent-nodes": {
    what: "A node of an agent that is stopped, replaced and kept apart from those of the built-in agent",
    files: ["test/torture/agent-nodes.test.ts"],
  },
  "away-databases": {
    what: "Commands, services and the page while a database is away, once it has stored an answer, or on PostgreSQL",
    files: [
      "test/cli/postgres.test.ts",
      "test/cli/stored-then-lost.test.ts",
      "test/http/away.test.ts",
    ],
  },
  "agent-ends": {
    what: "Modules of agents that end the program, or would keep it from ending",
    files: ["test/cli/agent-ends.test.ts"],
  },
  browser: {
    what: "Conversations of the client, the AI SDK and AG-UI in pages of a browser, if there is one",
    files: ["test/client/browser.test.ts"],
  },
  cycles: {
    what: "Every command on sessions whose parents form a cycle",
    files: ["test/cli/cycles.test.ts"],
  },
  "copied-langgraph": {
    what: "The command that copies LangGraph's databases, killed on the way, and every state of theirs",
    files: ["test/cli/copy/from-langgraph.test.ts", "test/compat/langgraph/states.test.ts"],
  },
  "config-writers": {
    what: "Processes that change the config at once, and are killed meanwhile",
    files: ["test/rules/config/writers.test.ts"],
  },
  faults: {
    what: "A disk that is full, locked, damaged or read-only beneath the real service, and text of every kind through it",
    files: ["test/torture/failures.test.ts", "test/torture/text.test.ts"],
  },
  frozen: {
    what: "A node that is frozen for two leases, and a service beside a terminal that is killed",
    files: ["test/torture/frozen-nodes.test.ts", "test/torture/beside-terminal.test.ts"],
  },
  notified: {
    what: "A notification of the desktop after an exchange of over 20 s",
    files: ["test/torture/notified.test.ts"],
  },
  "sandbox-limits": {
    what: "Commands in the sandbox with too many processes, too much memory or output, and one whose parent is killed",
    files: ["test/agent/sandbox/limits.test.ts"],
  },
  npm: {
    what: "A service that npm started, and npm is asked to stop",
    files: ["test/cli/serve-npm.test.ts"],
  },
  backup: {
    what: "A backup while a service writes, and one of a database that an upgrade changes",
    files: ["test/cli/commands/copy/backup.test.ts", "test/cli/commands/copy/upgrade.test.ts"],
  },
  "mcp-clients": {
    what: "Clients that use Reprise as an MCP server over standard input, one of which is killed, and hostile ones over HTTP",
    files: ["test/mcp-serve/stdio.test.ts", "test/mcp-serve/hostile.test.ts"],
  },
  editors: {
    what: "A session that two editors, or an editor and a terminal or a service, use at once",
    files: ["test/acp/elsewhere.test.ts", "test/acp/two-editors.test.ts"],
  },
  "mcp-full-disk": {
    what: "Logins and lists of MCP servers, and prompts of an editor, on a disk that is full (needs the right to mount a tmpfs)",
    files: ["test/cli/mcp-full-disk.test.ts"],
  },
  "hostile-fields": {
    what: "Every field that a terminal may show, with text that a terminal would act on",
    files: ["test/cli/hostile-fields.test.ts"],
  },
  "silent-database": {
    what: "A service whose PostgreSQL does not answer",
    files: ["test/cli/serve-silent.test.ts"],
  },
  "stalled-streams": {
    what: "Readers of streams that take little or nothing, and bodies that hardly arrive",
    files: ["test/http/body-budget.test.ts", "test/http/stream-limits.test.ts"],
  },
  "silent-models": {
    what: "A model that thinks for 12 s, and what a screen and events show meanwhile",
    files: ["test/cli/terminal/long-thought.test.ts"],
  },
  "sync-beside": {
    what: "Syncs in opposite directions at once, beside writers and exchanges",
    files: ["test/store/portable/sync-beside.test.ts"],
  },
  "killed-questions": {
    what: "Processes that die while a question is open or was answered, at each of their writes",
    files: ["test/agent/exchange/questions-killed.test.ts"],
  },
  "service-processes": {
    what: "Several processes of one service, of which some are killed or lose their parent",
    files: [
      "test/cli/commands/serve/serve-processes.test.ts",
      "test/torture/orphaned-processes.test.ts",
    ],
  },
  "lease-processes": {
    what: "Processes that hold a lease, lose it, are frozen and killed, on SQLite",
    files: ["test/store/records/leases/processes.test.ts"],
  },
  "lint-rules": {
    what: "Files that break each rule of our own for the linter",
    files: ["test/conformance/boundaries.test.ts"],
  },
  "loaded-modules": {
    what: "The modules that a command loads",
    files: ["test/cli/without-agent.test.ts"],
  },
  "plan-nodes": {
    what: "Three nodes that run a plan: one is frozen for two leases, and ten are killed",
    files: ["test/torture/plan-nodes.test.ts"],
  },
  "question-nodes": {
    what: "A question that is asked, answered and continued by three services, and copied while it waits",
    files: ["test/torture/question-nodes.test.ts"],
  },
  "postgres-nodes": {
    what: "Several nodes on one PostgreSQL, and connections that break",
    files: [
      "test/store/postgres/hosts.test.ts",
      "test/store/postgres/lost-connection.test.ts",
      "test/store/postgres/nodes.test.ts",
      "test/store/postgres/standby.test.ts",
    ],
  },
  eventsource: {
    what: "An EventSource over restarts of the service",
    files: ["test/http/eventsource.test.ts"],
  },
  "killed-commands": {
    what: "Commands that a command line shows, and one whose terminal is killed",
    files: ["test/cli/commands.test.ts"],
  },
  "killed-graphs": {
    what: "Graphs of others whose process is killed at a named point",
    files: ["test/agent/graph/killed.test.ts"],
  },
  "page-streams": {
    what: "Eight tabs in Chromium that share streams, while tabs leave and the service and its database are away",
    files: ["test/web/browser/streams.test.ts"],
  },
  "page-costs": {
    what: "The page of costs in Chromium: groups, times, narrow and dark screens",
    files: ["test/web/browser/costs.test.ts"],
  },
  "page-service": {
    what: "The page of the service in Chromium: what waits, numbers, logins, narrow and dark screens",
    files: ["test/web/browser/service.test.ts"],
  },
  "page-acting": {
    what: "What a person does in the page of a session in Chromium: questions, the queue, undo, links, by keyboard and from a phone",
    files: ["test/web/browser/acting.test.ts"],
  },
  "page-hostile": {
    what: "Texts that would run a script or load something, in each place of the web page in Chromium, with its policy and without",
    files: ["test/web/browser/hostile.test.ts"],
  },
  "page-everybody": {
    what: "What axe-core finds in each page and dialog of the web page in Chromium, light, dark and narrow",
    files: ["test/web/browser/everybody.test.ts"],
  },
  "page-pictures": {
    what: "The pictures of the web page in the docs, made again in Chromium",
    files: ["test/web/browser/pictures.test.ts"],
  },
  "page-phone": {
    what: "The page of a session in Chromium at 375 pixels",
    files: ["test/web/browser/phone.test.ts"],
  },
  "page-forks": {
    what: "Forks in the page of a session in Chromium, with and without the files undone",
    files: ["test/web/browser/forks.test.ts"],
  },
  "page-server-questions": {
    what: "Questions of MCP servers in the page of a session in Chromium",
    files: ["test/web/browser/server-questions.test.ts"],
  },
  "page-plans": {
    what: "The page of plans in Chromium: findings, files, the picture, large plans, narrow and dark screens",
    files: ["test/web/browser/plans.test.ts"],
  },
  "page-questions": {
    what: "Questions in the page of a session in Chromium, which a person reads to the end before a yes counts, in windows of many sizes",
    files: ["test/web/browser/questions.test.ts"],
  },
  "page-session": {
    what: "The page of a session in Chromium, whose exchanges run by hand",
    files: ["test/web/browser/session.test.ts"],
  },
  "page-shell": {
    what: "The web page in Chromium: its addresses, its files, and what its policy refuses",
    files: ["test/web/browser/login.test.ts", "test/web/browser/shell.test.ts"],
  },
  "demo-plan": {
    what: "The demo of plans, from its first command to the last",
    files: ["test/e2e/demo-plan.test.ts"],
  },
  "when-limited": {
    what: "Commands that wait until a provider's limit is over, and are killed meanwhile",
    files: ["test/e2e/when-limited.test.ts"],
  },
  "unsent-bytes": {
    what: "Clients that take their answers late or never, of every route, and what is held for them",
    files: ["test/http/unsent/in-turn.test.ts", "test/http/unsent/unsent-answers.test.ts"],
  },
  "lost-processes": {
    what: "Processes that are lost while they run an exchange",
    files: ["test/exchange/lost-processes.test.ts"],
  },
  "page-runs": {
    what: "The page of a run in Chromium: phases, checks, approvals, narrow and dark screens",
    files: ["test/web/browser/runs.test.ts"],
  },
  "page-search": {
    what: "Searches in the web page in Chromium",
    files: ["test/web/browser/search.test.ts"],
  },
  polling: {
    what: "Statements of 1, 10 and 200 streams on PostgreSQL",
    files: ["test/store/postgres/polling.test.ts"],
  },
  package: {
    what: "The command line and the library as a package holds them",
    files: ["test/e2e/package.test.ts"],
  },
  recording: {
    what: "The picture of a session in the README, made again and compared",
    files: ["test/e2e/recording.test.ts"],
  },
  "openapi-tools": {
    what: "Other people's checks of the OpenAPI document, and their clients, which npm installs",
    files: ["test/http/openapi-tools.test.ts"],
  },
  "sub-agent-questions": {
    what: "Questions of sub-agents that a terminal, a command and another process answer",
    files: ["test/cli/questions-of-sub-agents.test.ts"],
  },
  "terminal-scenes": {
    what: "A screen in a real terminal: questions in windows of three sizes, keys, commands and the ends of a session",
    files: [
      "test/cli/terminal/ask.test.ts",
      "test/cli/terminal/ask-window.test.ts",
      "test/cli/terminal/give-back.test.ts",
      "test/cli/terminal/picker-screen.test.ts",
      "test/cli/terminal/session.test.ts",
      "test/cli/terminal/session-commands.test.ts",
      "test/cli/terminal/session-ends.test.ts",
      "test/cli/terminal/session-keys.test.ts",
      "test/cli/terminal/session-stream.test.ts",
    ],
  },
  "queue-processes": {
    what: "A service whose processes are killed while messages wait, and messages that are refused in the queue",
    files: [
      "test/cli/refused-queue.test.ts",
      "test/cli/serve-exchanges.test.ts",
      "test/cli/serve-nodes.test.ts",
      "test/cli/stopped.test.ts",
      "test/cli/while-running.test.ts",
    ],
  },
  "earlier-exports": {
    what: "Exports of earlier builds, imported and continued by the command line",
    files: ["test/cli/earlier-exports.test.ts"],
  },
  points: {
    what: "Points of the torture of exchanges at which a node can be killed: each is reached",
    files: ["test/torture/exchanges/points.test.ts"],
  },
  tls: {
    what: "A PostgreSQL that asks for encrypted connections",
    files: ["test/store/postgres/tls.test.ts"],
  },
} as const satisfies Readonly<Record<string, Pick<SizedTest, "what" | "files">>>;

/** The files that `npm test` does not run. */
export function filesOfTorturesOnly(): string[] {
  const sized: readonly SizedTest[] = Object.values(SIZED_TESTS);
  const left = [...Object.values(ONLY_TORTURE), ...sized.filter(({ test }) => test === 0)];
  return left.flatMap(({ files }): readonly string[] => files);
}

/** The files that `npm run torture -- --short` runs. */
export function filesOfShort(): string[] {
  const sized: readonly SizedTest[] = Object.values(SIZED_TESTS);
  const run = [...Object.values(ONLY_TORTURE), ...sized.filter(({ short }) => short !== 0)];
  return run.flatMap(({ files }): readonly string[] => files);
}
